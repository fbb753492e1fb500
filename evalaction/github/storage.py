"""The storage host behind GitHub's links: a plain GET without any authorization, streamed into a file under a limit."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import requests

from evalaction.core.checks.base import quoted
from evalaction.errors import ConfigError, GitHubError

_TIMEOUT_SECONDS = (15.0, 60.0)
_DEADLINE_SECONDS = 600.0
_PIECE = 1024 * 1024
_ZIP_TYPES = frozenset({"application/zip", "application/x-zip-compressed", "application/x-zip", "application/octet-stream", "binary/octet-stream"})


class Storage:
    """Fetches archives; with `secure`, only over https.

    Raises GitHubError: `missing` for a dead link, `unavailable` on the way, `refused` for what is no zip or too large.
    """

    def __init__(self, *, secure: bool, clock: Callable[[], float]) -> None:
        self._secure, self._clock = secure, clock

    def fetch(self, link: str, to: Path, limit: int) -> None:
        """The bytes behind a link into a file of its own; nothing is left of one that did not come whole."""
        self._check_scheme(link)
        try:
            with writing(to), to.open("wb") as file:
                self._stream(link, file, limit)
        except BaseException:
            to.unlink(missing_ok=True)
            raise

    def _check_scheme(self, link: str) -> None:
        try:
            scheme = urlsplit(link).scheme
        except ValueError:
            scheme = ""
        if scheme != "https" and (self._secure or scheme != "http"):
            raise GitHubError("unavailable", "the link to the archive is no https address")

    def _stream(self, link: str, file: BinaryIO, limit: int) -> None:
        """The customs post of this host: what requests and all below it raise becomes a GitHubError; the link, which is a key for a minute, is never named."""
        try:
            with requests.Session() as session, self._answer(session, link) as answer:
                _check(answer, limit)
                for piece in self._pieces(answer, limit):
                    _write(file, piece)
        except (GitHubError, ConfigError):
            raise
        except Exception as error:  # noqa: BLE001 - nobody can list what five layers may raise; a test sends them all through here
            raise GitHubError("unavailable", f"the storage host did not answer ({type(error).__name__})") from None

    def _answer(self, session: requests.Session, link: str) -> requests.Response:
        """No cookie, no password file, no redirect: `auth` that does nothing keeps a netrc of the machine out."""
        session.auth = lambda request: request
        return session.get(link, stream=True, allow_redirects=False, timeout=_TIMEOUT_SECONDS, headers={"Accept-Encoding": "identity"})

    def _pieces(self, answer: requests.Response, limit: int) -> Iterator[bytes]:
        """The body as it came: an encoded one is not unpacked, for that could be a bomb."""
        deadline, total = self._clock() + _DEADLINE_SECONDS, 0
        while piece := answer.raw.read(_PIECE, decode_content=False):
            total += len(piece)
            if total > limit:
                raise GitHubError("refused", f"the archive is larger than {limit:,} bytes")
            if self._clock() > deadline:
                raise GitHubError("unavailable", f"the archive did not come within {_DEADLINE_SECONDS:.0f} s")
            yield piece


def _check(answer: requests.Response, limit: int) -> None:
    status = answer.status_code
    if 400 <= status < 500 and status != 429:
        raise GitHubError("missing", f"the storage host answered {status}", status)
    if status != 200:
        raise GitHubError("unavailable", f"the storage host answered {status}", status)
    kind = answer.headers.get("Content-Type", "").split(";")[0].strip().lower()
    if kind not in _ZIP_TYPES:
        raise GitHubError("refused", f"what came is no zip but {quoted(kind)}")
    length = answer.headers.get("Content-Length", "")
    if length.isdecimal() and int(length) > limit:
        raise GitHubError("refused", f"the archive is larger than {limit:,} bytes")


def _write(file: BinaryIO, piece: bytes) -> None:
    with writing(Path(file.name)):
        file.write(piece)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the system's refusal to write into a configuration error that names the place."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        fix = "free some space, or choose another folder" if full else "make the folder writable, or choose another one"
        raise ConfigError.one("CANNOT_WRITE", f"cannot write: {error.strerror or error}", fix, file=str(path)) from None
