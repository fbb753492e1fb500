"""Option groups and value types of the command line. Imports nothing heavy: `--help` must stay quick."""

from __future__ import annotations

import errno
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from evalaction.core.shards import read_shard

F = TypeVar("F", bound=Callable[..., Any])


class Location(click.Path):
    """A path that the system can look up; whether something is there is the command's affair."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path as a `Path`; one too long for the system is a wrong command line."""
        try:
            Path(value).stat()
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                self.fail(f"{str(value)[:80]!r} is no usable path: {error.strerror}", param, ctx)
        return super().convert(value, param, ctx)


FOLDER = Location(path_type=Path, file_okay=False)
FILE = Location(path_type=Path, dir_okay=False)
PROVIDERS = ("anthropic", "openai")
IMPORTS = ("spring", "promptfoo", "junit", "deepeval", "inspect", "lm-eval", "ragas", "csv", "generic")
SCHEMAS = ("suite", "verdict", "record", "case")
"""Kinds of files that have a published JSON Schema."""
FAIL_ON = ("case", "check", "metric", "threshold", "removed", "inconclusive")


class NamedNumber(click.ParamType[tuple[str, float]]):
    """`NAME=NUMBER`, such as recall@10=0.8."""

    name = "name=number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """Split at the last equals sign; the number must be finite."""
        if isinstance(value, tuple):
            return value
        name, _, number = str(value).rpartition("=")
        try:
            parsed = float(number)
        except ValueError:
            parsed = math.nan
        if not name.strip() or not math.isfinite(parsed):
            self.fail(f"{value!r} is not NAME=NUMBER, such as recall@10=0.8", param, ctx)
        return name.strip(), parsed


class ModelName(click.ParamType[tuple[str, str]]):
    """`PROVIDER:MODEL`, such as anthropic:claude-sonnet-4-5."""

    name = "provider:model"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Split at the first colon: a model's own name may hold more of them."""
        if isinstance(value, tuple):
            return value
        provider, _, model = (part.strip() for part in str(value).partition(":"))
        if provider not in PROVIDERS or not model:
            self.fail(f"{value!r} is not PROVIDER:MODEL with one of {', '.join(PROVIDERS)}", param, ctx)
        return provider, model


class ShardType(click.ParamType[tuple[int, int]]):
    """`I/N`: part I of N, counted from 1."""

    name = "i/n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Two whole numbers with 1 <= I <= N."""
        if isinstance(value, tuple):
            return value
        try:
            return read_shard(str(value))
        except ValueError as error:
            self.fail(f"{value!r} {error}", param, ctx)


class Names(click.ParamType[tuple[str, ...]]):
    """A list separated by commas, of known words."""

    name = "list"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Words in their order."""
        if isinstance(value, tuple):
            return value
        words = tuple(word.strip() for word in str(value).split(",") if word.strip())
        unknown = [word for word in words if word not in FAIL_ON]
        if unknown or not words:
            self.fail(f"{', '.join(unknown) or 'nothing'} is none of {', '.join(FAIL_ON)}", param, ctx)
        return words


class Tolerance(click.ParamType[float]):
    """A finite number of at least 0."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """NaN would compare as false with everything and so switch the gate off."""
        try:
            parsed = float(value)
        except ValueError:
            parsed = math.nan
        if not math.isfinite(parsed) or parsed < 0:
            self.fail(f"{value!r} is no finite number of at least 0", param, ctx)
        return parsed


class Label(click.ParamType[str]):
    """A name for runs: not blank, at most 200 characters, one line."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name without outer blanks."""
        label = str(value).strip()
        if not label or len(label) > 200 or not label.isprintable():
            self.fail("a label is one line of 1 to 200 characters", param, ctx)
        return label


class Share(Tolerance):
    """A number in 0..1."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """More than 1 could never be reached."""
        parsed = super().convert(value, param, ctx)
        if parsed > 1:
            self.fail(f"{value!r} is no number from 0 to 1", param, ctx)
        return parsed


def _group(*options: Callable[[F], F]) -> Callable[[F], F]:
    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


out_option = click.option("--out", type=FOLDER, default=Path("eval-results"), show_default=True, help="Folder of the results.")
baseline_option = click.option("--baseline", type=FOLDER, default=Path("eval-baselines"), show_default=True, help="Folder of the accepted baselines.")
baseline_or_score_option = click.option(
    "--baseline", type=Location(path_type=Path), default=Path("eval-baselines"), show_default=True, help="Folder of the accepted baselines, or a file with a pass rate."
)
label_option = click.option("--label", type=Label(), metavar="NAME", help="Keep the run under this name, to compare with later.")
baseline_label_option = click.option("--baseline-label", type=Label(), metavar="NAME", help="Compare with the newest run of this label.")
format_option = click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True, help="What is printed on stdout.")
report_options = _group(
    format_option,
    click.option("--report", type=FILE, help="Write the report as Markdown."),
    click.option("--html", type=FILE, help="Write the report as one HTML page."),
    click.option("--junit", type=FILE, help="Write the verdict as JUnit XML."),
)


def _more(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
    """Tell the porch as well: it may have to show a traceback when the command's own options are gone."""
    if value:
        ctx.ensure_object(dict)["verbose"] = True
    return value


verbose_option = click.option("-v", "--verbose", is_flag=True, callback=_more, is_eager=True, help="Say more, and show tracebacks of internal errors.")

measuring_options = _group(
    click.option("--repeats", type=click.IntRange(1, 1000), help="Runs of each case that names none of its own."),
    click.option("--filter", "filter_", metavar="GLOB", help="Only cases whose id matches."),
    click.option("--tag", help="Only cases with this tag."),
    click.option("--shard", type=ShardType(), help="Only part I of N of each suite."),
    click.option("--max-concurrency", type=click.IntRange(1, 1000), help="Calls at once, instead of the suite's."),
    click.option("--resume", is_flag=True, help="Continue an interrupted run."),
    click.option("--replay", type=FOLDER, help="Answer from the cassettes in this folder; nothing is asked, unless --record-to is given too."),
    click.option("--record-to", type=FOLDER, help="Keep every answer and verdict in a cassette in this folder."),
    click.option("--prune", is_flag=True, help="Drop from the recorded cassettes what this run did not use."),
    click.option("--name", help="Name of the suite, for a dataset without one."),
    click.option("--exec", "exec_", metavar="COMMAND", help="Ask this command (JSON lines on stdin and stdout)."),
    click.option("--http", "http_", metavar="URL", help="Ask this endpoint, one POST a case; for suites of Saiku's the base of its server."),
    click.option("--predictions", type=FILE, help="Take the answers from this file of JSON lines."),
    click.option("--import", "import_", type=(click.Choice(IMPORTS), Location(path_type=Path)), metavar="FORMAT PATH", help="Take finished results; nothing is asked."),
    click.option("--judge", type=ModelName(), metavar="PROVIDER:MODEL", help="Let this model apply the rubrics, instead of the suite's judge."),
    click.option("--k", type=click.IntRange(1, 100_000), default=10, show_default=True, help="Cut-off of the retrieval metrics of ragbench datasets."),
)
policy_options = _group(
    click.option("--threshold", "thresholds", type=NamedNumber(), multiple=True, help="Smallest value of a metric; may be repeated."),
    click.option("--tolerance", type=Tolerance(), help="How far a metric's mean may fall."),
    click.option("--case-tolerance", type=Tolerance(), help="How far a case's score may fall."),
    click.option("--pass-rate-tolerance", type=Tolerance(), help="How far a case's pass rate may fall."),
    click.option("--fail-on", type=Names(), help=f"What is red, separated by commas: {', '.join(FAIL_ON)}."),
    click.option("--report-only", "--no-fail-on-regression", "report_only", is_flag=True, help="Say what would fail, and exit 0."),
)
