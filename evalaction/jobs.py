"""Options of the command line → the parts, outputs and jobs that the uses take. What those need is imported when a command asks, so that `--help` stays quick."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evalaction.app.parts import Job, Outputs, Parts


def parts_of(options: dict[str, Any]) -> Parts:
    """The real parts: environment, working directory, log."""
    from evalaction.app.parts import Parts
    from evalaction.console import Console
    from evalaction.settings import Settings

    settings = Settings.read(dict(os.environ), Path.cwd())
    return Parts(settings=settings, console=Console(masker=settings.masker, verbose=bool(options.get("verbose")), plain_colours="NO_COLOR" in settings.environment))


def outputs_of(options: dict[str, Any]) -> Outputs:
    """Where results go; options that a command does not have count as not given."""
    from evalaction.app.parts import Outputs

    return Outputs(
        out=options.get("out") or Path("eval-results"), baseline=options.get("baseline") or Path("eval-baselines"), format=options.get("form", "text"),
        report=options.get("report"), junit=options.get("junit"), html=options.get("html"), report_only=bool(options.get("report_only")),
        label=options.get("label"), baseline_label=options.get("baseline_label"), command=shlex.join(["eval-gate", *sys.argv[1:]]),
    )  # fmt: skip


def job_of(options: dict[str, Any]) -> Job:
    """What is to be measured. Raises click.UsageError for options that exclude each other."""
    from evalaction.app.parts import Job, Selected, Tapes
    from evalaction.core.record import Shard
    from evalaction.datasets.overrides import Overrides

    shard = options["shard"]
    names = ("name", "k", "repeats", "max_concurrency", "tolerance", "case_tolerance", "pass_rate_tolerance", "thresholds", "fail_on")
    overrides = Overrides(target=_target(options), results=_results(options), judge=_judge(options), **{name: options[name] for name in names if options.get(name) is not None})
    selected = Selected(filter=options["filter_"], tag=options["tag"], shard=Shard(index=shard[0], of=shard[1]) if shard else None, resume=options["resume"])
    tapes = Tapes(**{name: options[name] for name in ("replay", "record_to", "prune")})
    return Job(suites=options["suites"], overrides=overrides, selected=selected, outputs=outputs_of(options), record=options.get("record"), tapes=tapes)


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


def stated(command: click.Command, arguments: Sequence[str]) -> dict[str, Any]:
    """What a command line that is refused says all the same: where results go and in which form, as click takes its words apart.

    A report over a file that it names as a suite is left out.
    """
    from evalaction.app.loading import overwritable

    context = click.Context(command, resilient_parsing=True, ignore_unknown_options=True, allow_extra_args=True)
    words, others, _ = command.make_parser(context).parse_args(list(arguments))
    places = {name: Path(word) for name in ("out", "baseline", "report", "junit", "html") if isinstance(word := words.get(name), str)}
    suites = overwritable([*others, *(named if isinstance(named := words.get("suites"), tuple) else ())], Path.cwd())
    kept = {name: path for name, path in places.items() if os.path.realpath(path) not in suites}
    form = words.get("form")
    return {**kept, "form": form if form in ("json", "markdown") else "text", "report_only": words.get("report_only") is True}
