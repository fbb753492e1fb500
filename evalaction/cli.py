"""The command line: one thin function per command. Holds the only catch-all."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from evalaction import __version__
from evalaction.ending import closing, crashed, end, judged, misused, refuse
from evalaction.errors import ConfigError, ExitCode
from evalaction.jobs import job_of, outputs_of, parts_of, stated
from evalaction.options import (
    FILE,
    FOLDER,
    SCHEMAS,
    Share,
    baseline_label_option,
    baseline_option,
    baseline_or_score_option,
    format_option,
    label_option,
    measuring_options,
    out_option,
    policy_options,
    report_options,
    verbose_option,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="eval-gate")
def cli() -> None:
    """Compare what a system answers with what a person accepted.

    Exit codes: 0 fine, 1 regressed or below a threshold, 2 configuration error, 3 could not be measured, 4 a bug in eval-gate.
    """


@cli.command()
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@out_option
@baseline_or_score_option
@measuring_options
@policy_options
@report_options
@click.option("--record", type=FOLDER, help="Judge this record instead of measuring.")
@label_option
@baseline_label_option
@verbose_option
def gate(**options: Any) -> int:
    """Measure, compare with the accepted baseline, report, exit with the verdict."""
    from evalaction.app.gating import gate_suites

    if not options["suites"] and options["record"] is None and options["import_"] is None:
        raise click.UsageError("name a suite, a record with --record, or results with --import")
    parts, job = parts_of(options), job_of(options)
    return judged(parts, job.outputs, lambda: gate_suites(parts, job))


@cli.command()
@click.argument("suites", nargs=-1, metavar="SUITE...")
@out_option
@measuring_options
@report_options
@label_option
@verbose_option
def run(**options: Any) -> int:
    """Measure and write the record; nothing is compared."""
    from evalaction.app.gating import run_suites

    if not options["suites"] and options["import_"] is None:
        raise click.UsageError("name a suite, or results with --import")
    parts, job = parts_of(options), job_of(options)
    return judged(parts, job.outputs, lambda: run_suites(parts, job))


@cli.command()
@click.argument("suites", nargs=-1, required=True, metavar="SUITE...")
@out_option
@measuring_options
@format_option
@click.option("--runs", type=click.IntRange(2, 1000), default=10, show_default=True, help="Runs of each case.")
@click.option("--pull-requests", type=click.IntRange(1, 100_000), default=2000, show_default=True, help="Unchanged pull requests to simulate.")
@verbose_option
def calibrate(**options: Any) -> int:
    """Measure one commit many times: its noise, the drops that can be seen, and false alarms to expect."""
    from evalaction.app.calibrating import CalibrateJob, calibrate_suites

    if options["repeats"] is not None:
        raise click.UsageError("--runs says how often each case is run, not --repeats")
    parts, job = parts_of(options), job_of(options)
    how = CalibrateJob(runs=options["runs"], pull_requests=options["pull_requests"])
    return judged(parts, job.outputs, lambda: calibrate_suites(parts, job, how))


@cli.command()
@click.argument("suites", nargs=-1, metavar="SUITE...")
@measuring_options
@policy_options
@verbose_option
def validate(**options: Any) -> int:
    """Report every fault of every file; nothing is called."""
    from evalaction.app.loading import load

    if not options["suites"] and options["import_"] is None:
        raise click.UsageError("name a suite, or results with --import")
    parts = parts_of(options)
    for suite in load(parts, job_of(options), run=False):
        parts.console.say(f"{suite.file}: suite {suite.name} with {len(suite.cases)} case{'s' if len(suite.cases) > 1 else ''} is valid")
    return int(ExitCode.OK)


@cli.command()
@click.argument("record_dir", type=FOLDER)
@click.option("--reason", default="", help="Why this level is right. Required.")
@click.option("--case", "cases", multiple=True, metavar="GLOB", help="Accept only these cases; may be repeated.")
@click.option("--only", type=click.Choice(["regressions"]), help="Accept only what the gate flagged.")
@click.option("--move-anchor", is_flag=True, help="Accept a level below the anchor, and make it the anchor.")
@click.option("--anchor", is_flag=True, help="Make this level the anchor.")
@click.option("--by", help="Who accepts; else the actor on GitHub or git's user.")
@baseline_option
@verbose_option
def accept(record_dir: Path, **options: Any) -> int:
    """Make a measured record the baseline, with a reason."""
    from evalaction.app.accepting import AcceptJob, accept_records

    parts = parts_of(options)
    job = AcceptJob(records=(record_dir,), **{name: options[name] for name in ("baseline", "reason", "by", "cases", "only", "move_anchor", "anchor")})
    return closing(accept_records(parts, job)[0])


@cli.command()
@click.argument("baseline_dir", type=FOLDER)
@click.argument("record_dir", type=FOLDER)
@out_option
@report_options
@verbose_option
def compare(baseline_dir: Path, record_dir: Path, **options: Any) -> int:
    """Compare two records; nothing is measured."""
    from evalaction.app.reading import compare_records

    parts, outputs = parts_of(options), outputs_of(options)
    return judged(parts, outputs, lambda: compare_records(parts, outputs, baseline_dir, record_dir))


@cli.command()
@click.argument("record_dir", type=FOLDER)
@out_option
@baseline_or_score_option
@report_options
@verbose_option
def report(record_dir: Path, **options: Any) -> int:
    """Render the report of a finished run again."""
    from evalaction.app.reading import report_records

    parts = parts_of(options)
    report_records(parts, outputs_of(options), record_dir)
    return closing("published")


@cli.command()
@click.argument("shard_dirs", type=FOLDER, nargs=-1, required=True, metavar="SHARD_DIR...")
@click.option("--into", type=FOLDER, required=True, help="Folder of the whole record.")
@verbose_option
def merge(shard_dirs: tuple[Path, ...], into: Path, **options: Any) -> int:
    """Join the records of shards; a missing shard is an error."""
    from evalaction.app.reading import merge_shards

    parts = parts_of(options)
    merge_shards(parts, shard_dirs, into)
    return closing("merged")


@cli.command()
@click.argument("suite", required=False)
@out_option
@baseline_option
@format_option
@click.option("--html", type=FILE, help="Write trends, flakiest cases and acceptances as one HTML page.")
@verbose_option
def history(suite: str | None, **options: Any) -> int:
    """Show past runs, oldest first."""
    from evalaction.app.reading import look_back, write_history_page
    from evalaction.report.history import render_history

    parts = parts_of(options)
    runs = look_back(parts, options["out"], suite)
    if options["html"] is not None:
        write_history_page(parts, runs, options["baseline"], options["html"])
    (parts.console.document if options["form"] == "json" else parts.console.result)(render_history(runs, options["form"]))
    return int(ExitCode.OK)


@cli.command("judge-audit")
@click.argument("record_dir", type=FOLDER)
@click.option("--labels", type=FILE, required=True, help="What people say: JSON lines with case, criterion and pass.")
@click.option("--min-kappa", type=Share(), help="Exit 1 when Cohen's kappa is below this.")
@format_option
@click.option("--report", type=FILE, help="Write the report as Markdown.")
@verbose_option
def judge_audit(record_dir: Path, labels: Path, min_kappa: float | None, **options: Any) -> int:
    """Compare a judge's verdicts with those of people; nothing is called."""
    from evalaction.app.auditing import AuditJob, audit_judge
    from evalaction.core.verdict import EXIT_CODES

    parts = parts_of(options)
    found = audit_judge(parts, AuditJob(record=record_dir, labels=labels, min_kappa=min_kappa), outputs_of(options))
    return end(found.word, EXIT_CODES[found.word], found.meaning)


@cli.command()
@click.argument("folder", type=FOLDER, default=Path())
@click.option("--action", metavar="OWNER/REPO@REF", help="Where your workflows take the Action from.")
@verbose_option
def init(folder: Path, action: str | None, **options: Any) -> int:
    """Write a starter suite and the three workflow files; nothing is overwritten."""
    from evalaction.store.starter import PLACEHOLDER, ignore_results, write_starter

    parts = parts_of(options)
    written, kept = write_starter(folder, action or PLACEHOLDER)
    for word, paths in (("wrote", written), ("kept", kept)):
        for path in paths:
            parts.console.say(f"{word} {path}")
    if ignore_results(folder):
        parts.console.say(f"added eval-results/ to {folder / '.gitignore'}")
    if action is None and any(path.suffix == ".yml" for path in written):
        parts.console.say(f"the workflows use {PLACEHOLDER}: put the repository and version there that you take the Action from, or give init --action OWNER/REPO@REF")
    parts.console.say(f"next: eval-gate gate {folder / 'evals'}")
    return int(ExitCode.OK)


@cli.command()
@click.option("--of", "of", type=click.Choice(SCHEMAS), default="suite", show_default=True, help="Which file's schema.")
@click.option("--output", type=FILE, help="Write to this file instead of stdout.")
@verbose_option
def schema(of: str, output: Path | None, **options: Any) -> int:
    """Print the JSON Schema of the suite file, or of another file."""
    from evalaction.app.schemas import schema_text
    from evalaction.store.files import write_named

    text = schema_text(of)
    if output is None:
        parts_of(options).console.document(text)
    else:
        write_named(output, text.encode())
    return int(ExitCode.OK)


def execute(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no traceback reaches a user who did not ask for it."""
    arguments, asked = list(sys.argv[1:] if arguments is None else arguments), dict[str, bool]()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # before and after measuring it ends like Ctrl-C; while measuring it is caught in order
    try:
        return _run(arguments, asked)
    except ConfigError as error:
        return refuse(error.faults)
    except (click.Abort, KeyboardInterrupt):
        return end("not_measured", ExitCode.NOT_MEASURED)
    except Exception as error:  # noqa: BLE001 - the one catch-all: a bug is exit 4, never Python's own 1
        return crashed(error, verbose="verbose" in asked)


def _run(arguments: list[str], asked: dict[str, bool]) -> int:
    """One command; `asked` hears of what holds for all of them. Of a wrong command line only the commands that come to a verdict leave one."""
    try:
        result = cli.main(args=arguments, prog_name="eval-gate", standalone_mode=False, obj=asked)
        return result if isinstance(result, int) else int(ExitCode.OK)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.message, err=True)
        return end("config_error", ExitCode.CONFIG, "no command was named")
    except click.UsageError as error:
        command = cli.commands.get(arguments[0]) if arguments else None
        if command is None or command.name not in ("gate", "run", "compare", "calibrate"):
            return misused(error)
        return misused(error, (parts_of({}), outputs_of(stated(command, arguments[1:]))))


def main() -> NoReturn:
    """The console script."""
    code = execute()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the verdict is out: a late signal must not change the code
    from evalaction.console import let_go

    let_go()
    gc.freeze()  # the interpreter's last search for cycles would visit everything that was read, only to give back what goes with the process
    sys.exit(code)
