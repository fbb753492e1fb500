"""The command line: a thin translation of options into one call. Builds the real parts; holds the only catch-all."""

from __future__ import annotations

import gc
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from evalaction import __version__
from evalaction.errors import ConfigError, ExitCode, Fault
from evalaction.options import (
    FILE,
    FOLDER,
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

if TYPE_CHECKING:
    from evalaction.app.parts import Job, Outputs, Parts
    from evalaction.core.verdict import Verdict


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
    parts, job = _parts(options), _job(options)
    return _judged(parts, job.outputs, lambda: gate_suites(parts, job))


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
    parts, job = _parts(options), _job(options)
    return _judged(parts, job.outputs, lambda: run_suites(parts, job))


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
    parts, job = _parts(options), _job(options)
    how = CalibrateJob(runs=options["runs"], pull_requests=options["pull_requests"])
    return _judged(parts, job.outputs, lambda: calibrate_suites(parts, job, how))


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
    parts = _parts(options)
    for suite in load(parts, _job(options), run=False):
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

    parts = _parts(options)
    job = AcceptJob(records=(record_dir,), **{name: options[name] for name in ("baseline", "reason", "by", "cases", "only", "move_anchor", "anchor")})
    return _closing(accept_records(parts, job)[0])


@cli.command()
@click.argument("baseline_dir", type=FOLDER)
@click.argument("record_dir", type=FOLDER)
@out_option
@report_options
@verbose_option
def compare(baseline_dir: Path, record_dir: Path, **options: Any) -> int:
    """Compare two records; nothing is measured."""
    from evalaction.app.reading import compare_records

    parts, outputs = _parts(options), _outputs(options)
    return _judged(parts, outputs, lambda: compare_records(parts, outputs, baseline_dir, record_dir))


@cli.command()
@click.argument("record_dir", type=FOLDER)
@out_option
@baseline_or_score_option
@report_options
@verbose_option
def report(record_dir: Path, **options: Any) -> int:
    """Render the report of a finished run again."""
    from evalaction.app.reading import report_records

    parts = _parts(options)
    report_records(parts, _outputs(options), record_dir)
    return _closing("published")


@cli.command()
@click.argument("shard_dirs", type=FOLDER, nargs=-1, required=True, metavar="SHARD_DIR...")
@click.option("--into", type=FOLDER, required=True, help="Folder of the whole record.")
@verbose_option
def merge(shard_dirs: tuple[Path, ...], into: Path, **options: Any) -> int:
    """Join the records of shards; a missing shard is an error."""
    from evalaction.app.reading import merge_shards

    parts = _parts(options)
    merge_shards(parts, shard_dirs, into)
    return _closing("merged")


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

    parts = _parts(options)
    runs = look_back(parts, options["out"], suite)
    if options["html"] is not None:
        write_history_page(parts, runs, options["baseline"], options["html"])
    parts.console.result(render_history(runs, options["form"]))
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

    parts = _parts(options)
    found = audit_judge(parts, AuditJob(record=record_dir, labels=labels, min_kappa=min_kappa), _outputs(options))
    return _end(found.word, EXIT_CODES[found.word], found.meaning)


@cli.command()
@click.argument("folder", type=FOLDER, default=Path())
@verbose_option
def init(folder: Path, **options: Any) -> int:
    """Write a starter suite and the three workflow files; nothing is overwritten."""
    from evalaction.store.starter import write_starter

    parts = _parts(options)
    written, kept = write_starter(folder)
    for word, paths in (("wrote", written), ("kept", kept)):
        for path in paths:
            parts.console.say(f"{word} {path}")
    parts.console.say(f"next: eval-gate gate {folder / 'evals'}; keep eval-results/ out of git")
    return int(ExitCode.OK)


@cli.command()
@click.option("--of", "of", type=click.Choice(["suite", "verdict", "record", "case"]), default="suite", show_default=True, help="Which file's schema.")
@click.option("--output", type=FILE, help="Write to this file instead of stdout.")
@verbose_option
def schema(of: str, output: Path | None, **options: Any) -> int:
    """Print the JSON Schema of the suite file, or of another file."""
    from evalaction.app.schemas import schema_text
    from evalaction.store.files import write_atomic

    text = schema_text(of)
    if output is None:
        _parts(options).console.result(text)
    else:
        write_atomic(output, text.encode())
    return int(ExitCode.OK)


def _parts(options: dict[str, Any]) -> Parts:
    """The real parts: environment, working directory, log."""
    import os

    from evalaction.app.parts import Parts
    from evalaction.console import Console
    from evalaction.settings import Settings

    settings = Settings.read(dict(os.environ), Path.cwd())
    return Parts(settings=settings, console=Console(masker=settings.masker, verbose=bool(options.get("verbose")), plain_colours="NO_COLOR" in settings.environment))


def _outputs(options: dict[str, Any]) -> Outputs:
    from evalaction.app.parts import Outputs

    return Outputs(
        out=options.get("out") or Path("eval-results"), baseline=options.get("baseline") or Path("eval-baselines"), format=options.get("form", "text"),
        report=options.get("report"), junit=options.get("junit"), html=options.get("html"), report_only=bool(options.get("report_only")),
        label=options.get("label"), baseline_label=options.get("baseline_label"), command=shlex.join(["eval-gate", *sys.argv[1:]]),
    )  # fmt: skip


def _job(options: dict[str, Any]) -> Job:
    from evalaction.app.parts import Job, Selected, Tapes
    from evalaction.core.record import Shard
    from evalaction.datasets.overrides import Overrides

    shard = options["shard"]
    names = ("name", "k", "repeats", "max_concurrency", "tolerance", "case_tolerance", "pass_rate_tolerance", "thresholds", "fail_on")
    overrides = Overrides(target=_target(options), results=_results(options), judge=_judge(options), **{name: options[name] for name in names if options.get(name) is not None})
    selected = Selected(filter=options["filter_"], tag=options["tag"], shard=Shard(index=shard[0], of=shard[1]) if shard else None, resume=options["resume"])
    tapes = Tapes(**{name: options[name] for name in ("replay", "record_to", "prune")})
    return Job(suites=options["suites"], overrides=overrides, selected=selected, outputs=_outputs(options), record=options.get("record"), tapes=tapes)


def _judge(options: dict[str, Any]) -> Any:
    """The judge named on the command line, None when the suite's own is meant."""
    from evalaction.core.suite import Judge

    return Judge(provider=options["judge"][0], model=options["judge"][1]) if options["judge"] else None


def _results(options: dict[str, Any]) -> Any:
    """The finished results named on the command line, None when something is to be measured."""
    from evalaction.core.suite import ImportTarget

    if options["import_"] is None:
        return None
    beside = [word for name, word in _MEASURING.items() if options.get(name)]
    if beside:
        raise click.UsageError(f"with --import nothing is measured: leave out {' and '.join(beside)}, or --import")
    return ImportTarget(format=options["import_"][0], path=str(options["import_"][1]))


_MEASURING = {
    "suites": "the suite", "record": "--record", "exec_": "--exec", "http_": "--http", "predictions": "--predictions", "judge": "--judge", "repeats": "--repeats",
    "resume": "--resume",
}  # fmt: skip


def _target(options: dict[str, Any]) -> Any:
    """The target named on the command line, None when the suite's own is meant."""
    from evalaction.core.suite import ExecTarget, HttpTarget, PredictionsTarget

    made: dict[str, Callable[[Any], Any]] = {
        "exec_": lambda value: ExecTarget(command=value),
        "http_": lambda value: HttpTarget(url=value),
        "predictions": lambda value: PredictionsTarget(path=str(value)),
    }
    named = [name for name in made if options[name] is not None]
    if len(named) > 1:
        raise click.UsageError("name one of --exec, --http and --predictions")
    if named and not str(options[named[0]]).strip():
        raise click.UsageError(f"--{named[0].rstrip('_')} is blank")
    return made[named[0]](options[named[0]]) if named else None


def _judged(parts: Parts, outputs: Outputs, work: Callable[[], Verdict]) -> int:
    """Run the work; a run without a verdict says so in verdict.json as well."""
    from evalaction.app.judging import publish_failure
    from evalaction.core.verdict import Reason
    from evalaction.report.faults import fault_reasons

    try:
        return work().exit_code
    except ConfigError as error:
        publish_failure(parts, outputs, "config_error", fault_reasons(error.faults))
        raise
    except KeyboardInterrupt:
        publish_failure(parts, outputs, "not_measured", (Reason(code="INTERRUPTED", message="a signal ended the run"),))
        raise
    except Exception as error:
        publish_failure(parts, outputs, "internal_error", (Reason(code="INTERNAL_ERROR", message=f"{type(error).__name__}: {error}"),))
        raise


def _closing(word: str) -> int:
    """The last log line of a mode without a comparison."""
    from evalaction.core.verdict import EXIT_CODES
    from evalaction.report.headline import meaning

    code = EXIT_CODES[word]
    return _end(word, code, meaning(word) if code is ExitCode.OK else None)


def execute(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no traceback reaches a user who did not ask for it."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    verbose = bool({"-v", "--verbose"} & set(arguments))
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # before and after measuring it ends like Ctrl-C; while measuring it is caught in order
    try:
        result = cli.main(args=arguments, prog_name="eval-gate", standalone_mode=False)
        return result if isinstance(result, int) else int(ExitCode.OK)
    except ConfigError as error:
        return _refuse(error.faults)
    except click.UsageError as error:
        return _misused(error, arguments)
    except (click.Abort, KeyboardInterrupt):
        return _end("not_measured", ExitCode.NOT_MEASURED)
    except Exception as error:  # noqa: BLE001 - the one catch-all: a bug is exit 4, never Python's own 1
        return _internal(error, verbose=verbose)


def _misused(error: click.UsageError, arguments: Sequence[str]) -> int:
    """A wrong command line is a configuration error; what the measuring commands promise of those holds for it too."""
    from evalaction.app.judging import publish_failure
    from evalaction.report.faults import fault_reasons

    hint = error.ctx.command_path if error.ctx else "eval-gate"
    fault = Fault(code="INVALID_INPUT", what=error.format_message(), fix=f"see {hint} --help")
    if arguments[:1] and arguments[0] in ("gate", "run", "compare", "calibrate"):
        named = {name: value for name, value in pairwise(arguments) if name in ("--out", "--format")}
        form = named.get("--format", "text")
        options = {"out": Path(named.get("--out", "eval-results")), "form": form if form in ("json", "markdown") else "text"}
        publish_failure(_parts({}), _outputs(options), "config_error", fault_reasons([fault]))
    return _refuse([fault])


def _refuse(faults: Sequence[Fault]) -> int:
    from evalaction.report.faults import render_faults

    _log(_masked(render_faults(faults)).rstrip("\n") + "\n")
    return _end("config_error", ExitCode.CONFIG)


def _internal(error: Exception, *, verbose: bool) -> int:
    from evalaction.report.text import plain

    if verbose:
        _log(_masked("".join(f"| {line}\n" for line in "".join(traceback.format_exception(error)).splitlines())))
    _log(_masked(plain(f"{type(error).__name__}: {error}. This is a bug in eval-gate; run again with -v and report what it prints.")) + "\n")
    return _end("internal_error", ExitCode.INTERNAL)


def _log(text: str) -> None:
    from evalaction.console import Stream

    Stream(sys.stderr).write(text)


def _end(word: str, code: ExitCode, meaning: str | None = None) -> int:
    _log(f"eval-gate: {word} (exit {int(code)}): {meaning or code.meaning}\n")
    return int(code)


def _masked(text: str) -> str:
    import os

    from evalaction.core.masking import Masker
    from evalaction.settings import secrets

    return Masker(secrets(os.environ)).text(text)


def main() -> NoReturn:
    """The console script."""
    code = execute()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the verdict is out: a late signal must not change the code
    from evalaction.console import let_go

    let_go()
    gc.freeze()  # the interpreter's last search for cycles would visit everything that was read, only to give back what goes with the process
    sys.exit(code)
