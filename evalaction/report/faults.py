"""Configuration errors for people: as lines of a log, and as the reasons of a verdict."""

from __future__ import annotations

from collections.abc import Iterable

from evalaction.core.verdict import Reason
from evalaction.errors import Fault
from evalaction.report.text import plain


def render_faults(faults: Iterable[Fault]) -> str:
    """One configuration error a line, `CODE file:line:column path: what. Fix: …`, harmless in any log."""
    return "".join(plain(str(fault), 2000) + "\n" for fault in faults)


def fault_reasons(faults: Iterable[Fault]) -> tuple[Reason, ...]:
    """The reasons of a `config_error` verdict; a message reads `path: what. Fix: …`, which the report takes apart again."""
    return tuple(Reason(code=fault.code, message=_message(fault), file=fault.file, line=fault.line, column=fault.column) for fault in faults)


def _message(fault: Fault) -> str:
    what = f"{fault.path}: {fault.what}" if fault.path else fault.what
    return f"{what.rstrip('.')}. Fix: {fault.fix.rstrip('.')}."
