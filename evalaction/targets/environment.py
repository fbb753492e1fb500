"""Which environment variables reach the system under test."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from evalaction.core.masking import looks_secret

_ALWAYS = (
    "PATH", "HOME", "LANG", "LANGUAGE", "LC_*", "TMPDIR", "TMP", "TEMP", "TZ", "USER", "LOGNAME", "SHELL", "TERM", "XDG_*",
    "PYTHONPATH", "PYTHONHOME", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_*", "JAVA_HOME",
    "SSL_CERT_*", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
    "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "APPDATA", "LOCALAPPDATA", "USERPROFILE",
)  # fmt: skip
"""What a program needs to start and to find its files, its locale and the network."""

_TOKENS = ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_PAT", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "*RUNTIME_TOKEN*", "ACTIONS_*", "INPUT_*")
"""Credentials of the workflow and its runner, and the action's inputs, of which one is the token."""
_COMMAND_FILES = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
"""Files through which a process steers the rest of the job."""
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}\b")
"""A name as variables have it: capitals with an underscore, so that no other word in capitals is taken for one."""


def is_withheld(name: str) -> bool:
    """Whether a variable never reaches a target, whoever names it."""
    return _matches(name.upper(), (*_TOKENS, *_COMMAND_FILES))


def passed_on(environment: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """The variables a child gets: those every program needs, and those named exactly or by glob.

    Tokens of GitHub and of the runner never pass. A glob does not catch a copy of such a token under
    another name either; a name written out does, since then a person meant just this variable.
    """
    named = tuple(names)
    withheld = {value for name, value in environment.items() if value and _matches(name.upper(), _TOKENS)}
    return {name: value for name, value in environment.items() if not is_withheld(name) and _is_wanted(name, value in withheld, named)}


def missing_secrets(environment: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """The named variables that hold secrets, by their names, and are unset or blank. A pattern asks for nothing, and what is withheld is no one's to miss."""
    return [name for name in dict.fromkeys(names) if "*" not in name and looks_secret(name) and not is_withheld(name) and not environment.get(name, "").strip()]


def unseen(text: str, environment: Mapping[str, str], passed: Mapping[str, str]) -> list[str]:
    """Variables that a text speaks of and that a child was not given: those that are set here, and those whose names say that they hold a secret."""
    words = dict.fromkeys(_VARIABLE.findall(text))
    return [word for word in words if word not in passed and not is_withheld(word) and (word in environment or looks_secret(word))]


def _is_wanted(name: str, is_copy: bool, named: tuple[str, ...]) -> bool:
    return name in named or (not is_copy and (_matches(name, _ALWAYS) or _matches(name, named)))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
