"""Writes what the documentation takes from the code, or with --check proves that it is fresh.

docs/errors.md from the registry of codes, docs/commands.md from the command line, docs/schemas/ from the types of the files, the table of other rules in docs/gate.md from the
stored output of the benchmark, inputs and outputs in docs/github.md from action.yml.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import yaml

from evalaction.app.schemas import schema_text
from evalaction.cli import cli
from evalaction.codes import errors_page
from evalaction.options import SCHEMAS

DOCS = Path(__file__).parent
RIVALS = DOCS.parent / "benchmarks" / "rivals.json"
BEGIN, END = "<!-- rivals: begin, by docs/generate.py -->", "<!-- rivals: end -->"
INPUTS = ("<!-- begin inputs: made by docs/generate.py from action.yml -->", "<!-- end inputs -->")


def generated() -> Iterator[tuple[Path, str]]:
    """Every generated file with its text."""
    yield DOCS / "errors.md", errors_page()
    yield DOCS / "commands.md", commands_page()
    for kind in SCHEMAS:
        yield DOCS / "schemas" / f"{kind}.schema.json", schema_text(kind)
    yield DOCS / "gate.md", with_rivals((DOCS / "gate.md").read_text(encoding="utf-8"), json.loads(RIVALS.read_text(encoding="utf-8")))


    action = yaml.safe_load((DOCS.parent / "action.yml").read_text(encoding="utf-8"))
    yield DOCS / "github.md", between((DOCS / "github.md").read_text(encoding="utf-8"), *INPUTS, f"\n{action_tables(action)}\n")


def commands_page() -> str:
    """Every command with its arguments and options, in the order of `--help`."""
    head = "# Commands\n\n<!-- made by docs/generate.py from the command line -->\n\nPaths are relative to the working directory. `eval-gate COMMAND --help` says the same.\n"
    return head + "".join(_command(cli.commands[name]) for name in cli.list_commands(click.Context(cli)))


def _command(command: click.Command) -> str:
    context = click.Context(command, info_name=f"eval-gate {command.name}")
    usage = " ".join([context.command_path, *(piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]")])
    records = [record for one in command.get_params(context) if isinstance(one, click.Option) and (record := one.get_help_record(context)) and "--help" not in one.opts]
    rows = [f"| `{_cell(option)}` | {_cell(words)} |" for option, words in records]
    table = ["", "| option | |", "|---|---|", *rows] if rows else []
    return "\n".join(["", f"## {command.name}", "", f"`{usage}`", "", _cell(command.help or ""), *table, ""])


def with_rivals(page: str, found: dict[str, Any]) -> str:
    """The page with the table between its two marks. Raises ValueError when a mark is missing."""
    return between(page, BEGIN, END, rivals_table(found))


def between(page: str, begin: str, end: str, text: str) -> str:
    """The page with another text between two marks. Raises ValueError when a mark is missing."""
    before, rest = page.split(begin, 1)
    _, after = rest.split(end, 1)
    return f"{before}{begin}\n{text}\n{end}{after}"


def action_tables(action: dict[str, Any]) -> str:
    """Inputs with their defaults, and outputs, each with its description."""
    inputs = [f"| `{name}` | {_shown(stated.get('default', ''))} | {_cell(stated['description'])} |" for name, stated in action["inputs"].items()]
    outputs = [f"| `{name}` | {_cell(stated['description'])} |" for name, stated in action["outputs"].items()]
    return "\n".join(["| input | default | |", "|---|---|---|", *inputs, "", "| output | |", "|---|---|", *outputs])


def _shown(default: str) -> str:
    return f"`{default}`" if default else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def rivals_table(found: dict[str, Any]) -> str:
    """Share of red pull requests of each rule in each situation, and how many were simulated."""
    rules = found["rules"]
    lines = [f"| {' | '.join(['situation', 'calls a case', *rules, 'simulated'])} |", "|---" * (len(rules) + 3) + "|"]
    for row in found["rows"]:
        name = f"{row['situation']} *(harmless)*" if row["harmless"] else row["situation"]
        shares = [_percent(row["red"][rule] / row["pull_requests"]) for rule in rules]
        lines.append(f"| {' | '.join([name, str(row['calls_per_case']), *shares, str(row['pull_requests'])])} |")
    return "\n".join(lines)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"


def main() -> int:
    """0 when everything is fresh, or has been written."""
    stale = [(path, text) for path, text in generated() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path, _ in stale:
            sys.stderr.write(f"{path.relative_to(DOCS.parent)} is stale: run make docs\n")
        return 1 if stale else 0
    for path, text in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
