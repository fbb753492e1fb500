"""The porch on GitHub: environment → inputs → one mode → outputs → exit code. The only place that builds the client; its one catch-all."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from evalaction.app.judging import NoVerdict, failure, publish_failure
from evalaction.app.on_github.acceptance import Kept, accept, renew
from evalaction.app.on_github.desk import REPORT, Desk
from evalaction.app.on_github.finishing import finish
from evalaction.app.on_github.gate import gate, merge
from evalaction.app.on_github.open_check import is_noted
from evalaction.app.on_github.places import first_place, second_place
from evalaction.app.on_github.second_stage import second_stage
from evalaction.app.on_github.surfaces import Place, Surfaces, headline
from evalaction.app.parts import Parts
from evalaction.app.signals import deaf, let_in, one_interrupt
from evalaction.console import Console, Stream, let_go
from evalaction.core.masking import Masker
from evalaction.core.verdict import Reason, Verdict
from evalaction.errors import ConfigError, ExitCode, Fault, GitHubError
from evalaction.github.commands import Runner
from evalaction.github.names import baseline_name, results_name
from evalaction.inputs import Inputs, read_inputs, unknown_inputs, variable
from evalaction.report.faults import fault_reasons, render_faults
from evalaction.report.terminal import last_line
from evalaction.report.text import block, plain
from evalaction.settings import Settings, secrets
from evalaction.store.ownership import hand_back

if TYPE_CHECKING:
    from evalaction.github.client import GitHub

_OURS_ALONE = re.compile(r"^(INPUT_.*|EVAL_GATE_KEY|GITHUB_TOKEN|GH_TOKEN|ACTIONS_.*|GITHUB_(ENV|PATH|OUTPUT|STATE|STEP_SUMMARY))$")
"""Variables that no target, suite or child process may see: credentials, and the files through which a process steers the rest of the job."""
_ANNOTATIONS = 8
"""The runner shows ten of a kind for a step."""


def main() -> NoReturn:
    """The container's entry point; with the word `finish` it closes what a killed run left open."""
    code = execute(os.environ, sys.argv[1:])
    deaf()  # the verdict is out: a late signal must not change the code
    let_go()
    sys.exit(code)


def execute(environ: MutableMapping[str, str], arguments: list[str]) -> int:
    """Run one mode and return its exit code; no traceback reaches the log, whatever the runner lacks."""
    given = dict(environ)
    try:
        with one_interrupt():
            return _execute(environ, arguments)
    except Exception as error:  # noqa: BLE001 - before there is a desk nothing can be shown but this line, and Python's own exit 1 would mean "regressed"
        said = Masker([given.get(variable("github-token"), "")]).text(f"{type(error).__name__}: {error}")
        Runner.of(given, Stream(sys.stdout)).set_outputs({"verdict": "internal_error", "exit-code": str(int(ExitCode.INTERNAL))})
        Stream(sys.stdout).write(f"{plain(said)}\neval-gate: internal_error (exit 4): {ExitCode.INTERNAL.meaning}\n")
        return int(ExitCode.INTERNAL)


def _execute(environ: MutableMapping[str, str], arguments: list[str]) -> int:
    given = dict(environ)
    for name in [name for name in environ if _OURS_ALONE.match(name)]:
        del environ[name]
    tokens = secrets({name: value for name, value in given.items() if name not in environ and not name.startswith(("INPUT_", "EVAL_GATE_"))})
    log = Stream(sys.stdout)
    inputs, faults = read_inputs(given)
    runner = Runner.of(given, log)
    with runner.commands_off() as quiet, _folder(given) as folder:
        cwd, misplaced = _enter(inputs, given)
        settings = Settings.read(dict(environ), cwd, also_secret=[inputs.github_token, *tokens])
        github, unreachable = _client(inputs, settings)
        console = Console(masker=settings.masker, err=log, out=log, plain_colours=True)
        desk = Desk(
            parts=Parts(settings=settings, console=console), inputs=inputs, runner=runner, quiet=quiet, folder=folder, results=settings.cwd / inputs.results_dir,
            github=github,
        )  # fmt: skip
        for name in unknown_inputs(given):
            desk.warn("unknown input", plain(f"input {name} is none of eval-gate's and changes nothing"))
        return finish(desk) if arguments == ["finish"] else _run(desk, (*faults, *misplaced, *unreachable))


def _run(desk: Desk, faults: tuple[Fault, ...]) -> int:
    """One mode from beginning to end; whatever happens, and whenever a signal comes, there is a verdict, and every surface that was opened says it."""
    places = [Surfaces(desk, Place(), publish=False)]
    try:
        let_in()
        kept = _ended(desk, places, faults)
        deaf()
    except KeyboardInterrupt:  # there is only one
        kept = _failed(desk, places[-1], "not_measured", (Reason(code="INTERRUPTED", message="a signal ended the run"),))
    surfaces = places[-1]
    _annotate(desk, surfaces, kept.verdict)
    with contextlib.suppress(OSError):  # a surface of its own: files of root are a nuisance to the next job, and no verdict
        hand_back(_workspace(desk), desk.results, desk.folder, *([kept.folder] if kept.folder else []))
    if not desk.runner.set_outputs(_outputs(desk, surfaces, kept)):
        desk.say("no outputs: GITHUB_OUTPUT names no file that can be written")
    desk.say(last_line(kept.verdict))
    return kept.verdict.exit_code


def _ended(desk: Desk, places: list[Surfaces], faults: tuple[Fault, ...]) -> Kept:
    """What the mode, or an error on the way, ends with. The surfaces are added to `places` before anything is shown on them."""
    try:
        places.append(_place(desk, faults))
        places[-1].open()
        return _mode(desk, places[-1], faults)
    except ConfigError as error:
        desk.parts.console.result(render_faults(error.faults))
        return _failed(desk, places[-1], "config_error", fault_reasons(error.faults))
    except GitHubError as error:
        desk.say(f"GITHUB_UNAVAILABLE: {error}")
        return _failed(desk, places[-1], "not_measured", (Reason(code="GITHUB_UNAVAILABLE", message=str(error)),))
    except Exception as error:  # noqa: BLE001 - the one catch-all: a bug is exit 4, never Python's own 1
        return _bug(desk, places[-1], error)


def _place(desk: Desk, faults: tuple[Fault, ...]) -> Surfaces:
    if desk.inputs.mode != "report":
        return first_place(desk)
    if faults and desk.github is None:
        raise ConfigError(faults)  # where GitHub cannot be asked, the faults say why
    return second_place(desk)


def _mode(desk: Desk, surfaces: Surfaces, faults: tuple[Fault, ...]) -> Kept:
    if faults:
        raise ConfigError(faults)
    return _MODES[desk.inputs.mode](desk, surfaces)


_MODES: Mapping[str, Callable[[Desk, Surfaces], Kept]] = {
    "gate": lambda desk, surfaces: Kept(verdict=gate(desk, surfaces)),
    "merge": lambda desk, surfaces: Kept(verdict=merge(desk, surfaces)),
    "report": lambda desk, surfaces: Kept(verdict=second_stage(desk, surfaces)),
    "accept": lambda desk, _: accept(desk),
    "renew": lambda desk, _: renew(desk),
}


def _failed(desk: Desk, surfaces: Surfaces, word: NoVerdict, reasons: tuple[Reason, ...]) -> Kept:
    """The run without a verdict, told wherever it can be told; a folder of results that fails in a way nobody foresaw costs its files and nothing else."""
    try:
        return Kept(verdict=publish_failure(desk.parts, desk.outputs(surfaces), word, reasons))
    except Exception as error:  # noqa: BLE001 - the page that tells of an error must not become another one, which nobody would catch
        desk.say(f"the results could not be written: {type(error).__name__}: {error}")
        verdict = failure(desk.outputs(), word, reasons)
        surfaces(verdict, {})
        return Kept(verdict=verdict)


def _bug(desk: Desk, surfaces: Surfaces, error: Exception) -> Kept:
    if desk.parts.settings.environment.get("RUNNER_DEBUG") == "1":
        desk.parts.console.result(block("".join(traceback.format_exception(error)).replace("Traceback (most recent call last)", "Stack"), 20_000))
    message = f"{type(error).__name__}: {error}. This is a bug in eval-gate; run the job again with debug logging and report what it prints."
    desk.say(message)
    return _failed(desk, surfaces, "internal_error", (Reason(code="INTERNAL_ERROR", message=message),))


def _annotate(desk: Desk, surfaces: Surfaces, verdict: Verdict) -> None:
    """One line on the run's page that says why it is not green; where no check run could carry them, the faults' places too."""
    if verdict.exit_code == ExitCode.OK:
        return
    desk.quiet.command("error", headline(verdict, desk), title="eval-gate")
    for remark in surfaces.remarks(verdict)[:_ANNOTATIONS] if not surfaces.check_url else ():
        desk.quiet.command("error", remark.message, title=remark.title, file=remark.path, line=remark.line)


def _outputs(desk: Desk, surfaces: Surfaces, kept: Kept) -> dict[str, str]:
    """What later steps read. The names that action.yml keeps to itself are those of its upload steps and of the step that completes an open check run."""
    verdict, inputs = kept.verdict, desk.inputs
    compared = bool(verdict.suites) and all(suite.baseline.found for suite in verdict.suites)
    report, measured = desk.results / REPORT, inputs.mode in ("gate", "merge") and os.path.isdir(desk.results)  # noqa: PTH112 - a Path raises on a name that is too long
    regressed = sum(suite.counts.regressed for suite in verdict.suites)
    values = {
        "verdict": verdict.verdict, "exit-code": str(verdict.exit_code), "baseline-found": str(compared).lower(), "regressed": str(regressed),
        "results-path": _relative(desk.results, desk), "report-path": _relative(report, desk) if os.path.isfile(report) else "",  # noqa: PTH113 - as above
        "comment-url": surfaces.comment_url, "check-url": surfaces.check_url,
        "baseline-path": _relative(kept.folder, desk) if kept.folder else str(kept.uploads[0][1]) if kept.uploads else "",
        "check-open": str(is_noted(desk)).lower(),
        "results-artifact": results_name(inputs.key, desk.event.attempt) if measured else "",
    }  # fmt: skip
    for number, (key, place) in enumerate(kept.uploads, 1):
        values |= {f"baseline-{number}-artifact": baseline_name(key), f"baseline-{number}-path": str(place)}
    return values


def _workspace(desk: Desk) -> Path:
    return Path(desk.parts.settings.environment.get("GITHUB_WORKSPACE") or desk.parts.settings.cwd)


def _relative(path: Path, desk: Desk) -> str:
    """Relative to the workspace, as other steps see it, where it lies in there."""
    workspace = _workspace(desk)
    return os.path.relpath(path, workspace) if path.is_relative_to(workspace) else str(path)


def _enter(inputs: Inputs, environment: Mapping[str, str]) -> tuple[Path, tuple[Fault, ...]]:
    """The folder that suites are looked for in; the process works there too, as commands of targets do. One that is not there, or a link that leads out, is a fault."""
    named = Path(environment.get("GITHUB_WORKSPACE") or Path.cwd())
    workspace = named if named.is_dir() else Path.cwd()
    folder = (workspace / inputs.working_directory).resolve()
    faults: tuple[Fault, ...] = ()
    if not os.path.isdir(folder) or not folder.is_relative_to(workspace.resolve()):  # noqa: PTH112 - as above
        what = f"working-directory {inputs.working_directory} is no folder of the workspace"
        folder, faults = workspace, (Fault(code="FILE_NOT_FOUND", what=what, fix="check out the repository first, or correct the input", path="working-directory"),)
    os.chdir(folder)
    return folder, faults


def _client(inputs: Inputs, settings: Settings) -> tuple[GitHub | None, tuple[Fault, ...]]:
    """The client, None where nothing can be asked; what is wrong with the addresses that the environment names."""
    repository = settings.event.repository
    if not inputs.github_token or "/" not in repository:
        return None, ()
    from evalaction.github.client import GitHub  # noqa: PLC0415 - PyGithub costs a third of a second, and runs without a token do without

    address = settings.environment.get("GITHUB_API_URL") or "https://api.github.com"
    try:
        return GitHub(token=inputs.github_token, api_url=address, repository=repository), ()
    except ConfigError as error:
        return None, error.faults


@contextlib.contextmanager
def _folder(environment: Mapping[str, str]) -> Iterator[Path]:
    """A folder of our own in the runner's temporary one. It stays: the next steps upload from it, and the runner empties it after the job."""
    temporary = Path(environment.get("RUNNER_TEMP") or tempfile.gettempdir())
    yield Path(tempfile.mkdtemp(prefix="eval-gate-", dir=temporary if temporary.is_dir() else None))
