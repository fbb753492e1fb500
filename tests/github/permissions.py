"""What a job's token must be allowed for each use of the Action; a test holds this to what the runs really ask for, another one the examples to this."""

from __future__ import annotations

from collections.abc import Mapping

_READS = {"contents": "read", "actions": "read"}
_SHOWS = {**_READS, "checks": "write", "pull-requests": "write"}
OF_MODE = {"gate": _SHOWS, "merge": _SHOWS, "report": _SHOWS, "accept": _READS, "renew": _READS}


def needed(inputs: Mapping[str, object]) -> dict[str, str]:
    """The permissions of one step by its inputs: a shard shows nothing, and what is switched off needs none."""
    mode = str(inputs.get("mode", "gate"))
    if mode == "gate" and inputs.get("shard"):
        return dict(_READS)
    off = {permission for name, permission in (("check", "checks"), ("comment", "pull-requests")) if str(inputs.get(name, "true")).lower() == "false"}
    return {name: level for name, level in OF_MODE[mode].items() if name not in off}
