"""How a command ends: with a verdict or without one there is a last line of the log, and an exit code that means what it says."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from evalaction.errors import ConfigError, ExitCode, Fault

if TYPE_CHECKING:
    from evalaction.app.parts import Outputs, Parts
    from evalaction.core.verdict import Verdict


def judged(parts: Parts, outputs: Outputs, work: Callable[[], Verdict]) -> int:
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


def closing(word: str) -> int:
    """The last log line of a mode without a comparison."""
    from evalaction.core.verdict import EXIT_CODES
    from evalaction.report.headline import meaning

    code = EXIT_CODES[word]
    return end(word, code, meaning(word) if code is ExitCode.OK else None)


def misused(error: click.UsageError, judging: tuple[Parts, Outputs] | None = None) -> int:
    """A wrong command line is a configuration error; what a `judging` command promises of those holds for it too."""
    from evalaction.app.judging import publish_failure
    from evalaction.report.faults import fault_reasons

    hint = error.ctx.command_path if error.ctx else "eval-gate"
    fault = Fault(code="INVALID_INPUT", what=error.format_message(), fix=f"see {hint} --help")
    if judging is not None:
        publish_failure(*judging, "config_error", fault_reasons([fault]))
    return refuse([fault])


def refuse(faults: Sequence[Fault]) -> int:
    """A configuration error: every fault on a line of its own."""
    from evalaction.report.faults import render_faults

    _log(_masked(render_faults(faults)).rstrip("\n") + "\n")
    return end("config_error", ExitCode.CONFIG)


def crashed(error: Exception, *, verbose: bool) -> int:
    """A bug of ours, with its traceback for those who asked for more; each of its lines is marked."""
    from evalaction.report.text import plain

    if verbose:
        _log(_masked("".join(f"| {line}\n" for line in "".join(traceback.format_exception(error)).splitlines())))
    _log(_masked(plain(f"{type(error).__name__}: {error}. This is a bug in eval-gate; run again with -v and report what it prints.")) + "\n")
    return end("internal_error", ExitCode.INTERNAL)


def _log(text: str) -> None:
    from evalaction.console import Stream

    Stream(sys.stderr).write(text)


def end(word: str, code: ExitCode, meaning: str | None = None) -> int:
    """The last line of the log; returns the exit code."""
    _log(f"eval-gate: {word} (exit {int(code)}): {meaning or code.meaning}\n")
    return int(code)


def _masked(text: str) -> str:
    from evalaction.core.masking import Masker
    from evalaction.settings import secrets

    return Masker(secrets(os.environ)).text(text)
