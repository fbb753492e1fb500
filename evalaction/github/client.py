"""The client: the only file that names PyGithub. Every foreign exception ends here, as a GitHubError."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import github

from evalaction.core.masking import Masker
from evalaction.errors import GitHubError
from evalaction.github import reading
from evalaction.github.deadline import Deadline, LateAnswer, in_time
from evalaction.github.facts import Artifact, CheckOutput, CheckRun, Comment, Conclusion, Position, PullRequest, Run
from evalaction.github.replies import LOST, Reply, at
from evalaction.github.request import Request, checked_repository, checked_scheme, output_json
from evalaction.github.storage import Storage

T = TypeVar("T")
API_VERSION = "2022-11-28"
PATIENCE_SECONDS = 60.0
"""How long a client waits for rate limits in all."""
_PAUSES = (1.0, 3.0)
"""Seconds before the second and the third try of what may be asked again."""
_TIMEOUT_SECONDS = 15
_PAGE = 100
_MOST_PAGES = 1000
_LIST_SECONDS = 120.0
"""How long the pages of one list may take together."""


class GitHub:
    """One repository through GitHub's REST API. Nothing is asked before a method is called.

    Lists come whole, in pages of 100. What fails on the way is asked again: GET, PATCH and DELETE three times, POST and what adds annotations never. A rate
    limit is waited for, for a minute in all; an answer must come whole and soon, however slowly it drips (see `Deadline`). What cannot be done raises
    GitHubError, whose message names request and status and never the token.
    """

    def __init__(
        self, *, token: str, api_url: str, repository: str, sleep: Callable[[float], None] = time.sleep, clock: Callable[[], float] = time.time, deadline: Deadline | None = None
    ) -> None:
        self.calls = 0
        self._sleep, self._clock, self._patience = sleep, clock, PATIENCE_SECONDS
        self._masker = Masker([token])
        self._root = f"/repos/{checked_repository(repository)}"
        self._storage = Storage(secure=checked_scheme(api_url) == "https", clock=clock)
        auth, self._deadline = github.Auth.Token(token) if token else None, deadline or Deadline()
        self._connect: Callable[[], github.Github] = lambda: github.Github(
            auth=auth, base_url=api_url.rstrip("/"), timeout=_TIMEOUT_SECONDS, per_page=_PAGE, retry=None, seconds_between_requests=None, seconds_between_writes=None
        )
        self._github = self._connect()

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """Within, all that is asked together takes no longer than this; what comes after raises GitHubError `unavailable`."""
        return self._deadline.within(seconds)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._github.close()

    def artifacts(self, name: str) -> list[Artifact]:
        """All artifacts of exactly this name in the repository, expired and forks' ones too, newest first by creation, then id."""
        found = self._list("/actions/artifacts", "artifacts", reading.artifact, {"name": name})
        return sorted((one for one in found if one.name == name), key=lambda one: (one.created_at, one.id), reverse=True)

    def run_artifacts(self, run_id: int) -> list[Artifact]:
        """All artifacts of one run, newest first."""
        found = self._list(f"/actions/runs/{run_id}/artifacts", "artifacts", reading.artifact)
        return sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)

    def run(self, run_id: int) -> Run:
        """One workflow run."""
        return self._one("GET", f"/actions/runs/{run_id}", reading.run)

    def runs_on(self, branch: str, *, most: int) -> Iterator[Run]:
        """Completed runs on a branch of this name, forks' ones too, newest first, at most so many; pages are asked for as they are needed."""
        rows = self._pages("/actions/runs", "workflow_runs", {"branch": branch, "status": "completed"})
        for _, row in zip(range(most), rows, strict=False):
            yield self._read(reading.run, row, "a workflow run")

    def runs_of(self, workflow: str, branch: str, *, most: int) -> list[Run]:
        """Successful runs of a workflow's file on a branch of this name, forks' ones too, newest first, at most so many; none where there is no such workflow."""
        rows = self._pages(f"/actions/workflows/{quote(workflow, safe='')}/runs", "workflow_runs", {"branch": branch, "status": "success"})
        with self._tolerated("missing"):
            return [self._read(reading.run, row, "a workflow run") for _, row in zip(range(most), rows, strict=False)]
        return []

    def position(self, sha: str, branch: str) -> Position:
        """How a commit stands to a branch. `heads/` keeps a tag of the branch's name out."""
        between = quote(f"heads/{branch}...{sha}", safe="")
        return self._one("GET", f"/compare/{between}", reading.position, query={"per_page": 1})

    def download(self, artifact: Artifact, to: Path, *, limit: int) -> None:
        """An artifact's archive into a file, at most `limit` bytes; its digest is not looked at.

        Raises GitHubError `refused` for a larger one and for an answer that is no zip, ConfigError CANNOT_WRITE when the disk refuses.
        """
        if artifact.size_in_bytes > limit:
            raise GitHubError("refused", f"artifact {artifact.id} has {artifact.size_in_bytes:,} bytes, more than {limit:,}")
        dead = False
        for wait in (*_PAUSES, None):
            link = self._link(artifact)
            try:
                self.calls += 1
                return self._storage.fetch(link, to, limit)
            except GitHubError as error:
                if wait is None or error.kind == "refused" or (error.kind == "missing" and dead):
                    raise GitHubError("refused" if error.kind == "refused" else "unavailable", f"artifact {artifact.id}: {error}", error.status) from None
                dead = dead or error.kind == "missing"
            self._sleep(wait)
        return None

    def _link(self, artifact: Artifact) -> str:
        """Where the archive lies for the next minute."""
        request = Request("GET", f"{self._root}/actions/artifacts/{artifact.id}/zip")
        reply = self._exchange(request)
        link = reply.headers.get("location")
        if reply.status != 302 or not link:
            raise self._error(request, reply, "no link to the archive")
        return str(link)

    def pull(self, number: int) -> PullRequest:
        """One pull request as it is now."""
        return self._one("GET", f"/pulls/{number}", reading.pull_request)

    def pulls_from(self, owner: str, branch: str) -> list[PullRequest]:
        """Open pull requests from a branch of an owner's repositories."""
        return self._list("/pulls", None, reading.pull_request, {"state": "open", "head": f"{owner}:{branch}"})

    def comments(self, number: int) -> list[Comment]:
        """All comments of a pull request, oldest first."""
        return self._list(f"/issues/{number}/comments", None, reading.comment)

    def create_comment(self, number: int, body: str) -> Comment:
        """Post a comment. After a GitHubError `unavailable` it may be there all the same: look before asking again."""
        return self._one("POST", f"/issues/{number}/comments", reading.comment, body={"body": body})

    def edit_comment(self, comment_id: int, body: str) -> Comment:
        """Replace a comment's text."""
        return self._one("PATCH", f"/issues/comments/{comment_id}", reading.comment, body={"body": body})

    def delete_comment(self, comment_id: int) -> None:
        """Remove a comment; one that is gone already is no error."""
        with self._tolerated("missing"):
            self._ask(Request("DELETE", f"{self._root}/issues/comments/{comment_id}"))

    def login(self) -> str | None:
        """Whose this token is: a user's, or an app's, which REST does not say; None where nobody says."""
        request = Request("GET", "/user")
        with self._tolerated("permission", "missing"):
            return self._read(lambda found: reading.Fields(found).text("login"), self._json(request, self._ask(request)), str(request))
        request = Request("POST", self._github.requester.graphql_url, body={"query": "query { viewer { login } }"})
        with self._tolerated("permission", "missing", "refused", "unavailable"):
            return self._read(reading.app_login, self._json(request, self._ask(request)), str(request))
        return None

    def create_check(self, name: str, head_sha: str, *, external_id: str, title: str, summary: str) -> CheckRun:
        """Open a check run in progress. After a GitHubError `unavailable` it may be there all the same."""
        body = {"name": name, "head_sha": head_sha, "status": "in_progress", "external_id": external_id, "output": {"title": title, "summary": summary}}
        return self._one("POST", "/check-runs", reading.check_run, body=body)

    def update_check(self, check_id: int, *, conclusion: Conclusion | None, output: CheckOutput) -> CheckRun:
        """Replace a check run's texts, add up to 50 annotations, and complete it where there is a conclusion: one request.

        With annotations it is asked once: after a GitHubError `unavailable` they may be there all the same, and a call without any tells how many are.
        """
        body: dict[str, Any] = {"output": output_json(output)}
        if conclusion is not None:
            body |= {"status": "completed", "conclusion": conclusion}
        request = Request("PATCH", f"{self._root}/check-runs/{check_id}", body=body, adds=bool(output.annotations))
        return self._read(reading.check_run, self._json(request, self._ask(request)), str(request))

    def rename_check(self, check_id: int, name: str) -> CheckRun:
        """Another name for a check run."""
        return self._one("PATCH", f"/check-runs/{check_id}", reading.check_run, body={"name": name})

    def checks(self, head_sha: str, name: str) -> list[CheckRun]:
        """All check runs of this name on a commit, superseded ones too, in no order."""
        return self._list(f"/commits/{head_sha}/check-runs", "check_runs", reading.check_run, {"check_name": name, "filter": "all"})

    @contextlib.contextmanager
    def _tolerated(self, *kinds: str) -> Iterator[None]:
        try:
            yield
        except GitHubError as error:
            if error.kind not in kinds:
                raise

    def _one(self, method: str, path: str, read: Callable[[Any], T], *, query: Mapping[str, str | int] | None = None, body: Mapping[str, Any] | None = None) -> T:
        request = Request(method, self._root + path, query or {}, body)
        return self._read(read, self._json(request, self._ask(request)), str(request))

    def _list(self, path: str, within: str | None, read: Callable[[Any], T], query: Mapping[str, str | int] | None = None) -> list[T]:
        with self.within(_LIST_SECONDS):
            return [self._read(read, row, f"GET {self._root}{path}") for row in self._pages(path, within, query or {})]

    def _pages(self, path: str, within: str | None, query: Mapping[str, str | int]) -> Iterator[Any]:
        """Rows of all pages, each once: what is added while we read moves others to the next page."""
        seen: set[int] = set()
        for page in range(1, _MOST_PAGES + 1):
            request = Request("GET", self._root + path, {**query, "per_page": _PAGE, "page": page})
            reply = self._ask(request)
            rows = self._read(lambda found: _rows(found, within), self._json(request, reply), str(request))
            fresh = {number: row for number, row in rows.items() if number not in seen}
            yield from fresh.values()
            seen |= fresh.keys()
            if not (len(rows) >= _PAGE if reply.has_next is None else reply.has_next):
                return
            if not fresh:
                raise GitHubError("unavailable", f"{request}: page {page} brings nothing new, and there is said to be another")
        raise GitHubError("unavailable", f"GET {self._root}{path}: more than {_MOST_PAGES} pages")

    def _json(self, request: Request, reply: Reply) -> Any:
        try:
            return json.loads(reply.text)
        except (ValueError, RecursionError):
            raise self._error(request, reply, "the answer is no JSON") from None

    def _read(self, read: Callable[[Any], T], found: Any, about: str) -> T:
        try:
            return read(found)
        except reading.Malformed as error:
            raise GitHubError("unavailable", f"{about}: the answer is not GitHub's: {error}") from None

    def _ask(self, request: Request) -> Reply:
        """A request that must succeed."""
        reply = self._exchange(request)
        if not 200 <= reply.status < 300:
            raise self._error(request, reply)
        return reply

    def _exchange(self, request: Request) -> Reply:
        """One answer below 400, after as many tries as the request and the time allow."""
        pauses = iter(_PAUSES if request.is_repeatable else ())
        while True:
            if self._deadline.is_over:
                raise self._error(request, Reply(LOST, {}, "GitHub took too long before"))
            reply = self._once(request)
            wait = self._limit_wait(request, reply)
            if wait is None and reply.is_failure and self._deadline.may_repeat:
                wait = next(pauses, None)
            if wait is None and (reply.is_failure or reply.status >= 400):
                raise self._error(request, reply)
            if wait is None:
                return reply
            self._sleep(wait)

    def _limit_wait(self, request: Request, reply: Reply) -> float | None:
        """Seconds to wait for a rate limit, taken from our patience; None when there is none."""
        wait = reply.limit_seconds(self._clock())
        if wait is None:
            return None
        if wait > self._patience:
            raise self._error(request, Reply(429, {}, reply.text), f"rate limit until {at(self._clock() + wait)}")
        self._patience -= wait
        return wait

    def _once(self, request: Request) -> Reply:
        """The customs post: whatever PyGithub and all below it raise becomes an answer of its own."""
        self.calls += 1
        requester, known = self._github.requester, {"X-GitHub-Api-Version": API_VERSION}
        with self._deadline.counted() as seconds:
            try:
                status, headers, text = in_time(
                    lambda: requester.requestJson(request.method, request.path, parameters=dict(request.query), headers=known, input=request.body), seconds
                )
            except (LateAnswer, KeyboardInterrupt) as error:
                self._github = self._connect()  # what was left behind still works with the connection before
                if isinstance(error, KeyboardInterrupt):
                    raise
                return Reply(LOST, {}, str(error))
            except Exception as error:  # noqa: BLE001 - nobody can list what five layers may raise; a test sends them all through here
                return Reply(LOST, {}, type(error).__name__)
        return Reply(status, headers, text)

    def _error(self, request: Request, reply: Reply, what: str = "") -> GitHubError:
        message = f"{request}: {f'{what}; ' if what else ''}{reply.message}"
        return GitHubError(reply.kind, self._masker.text(message), reply.status or None)


def _rows(found: Any, within: str | None) -> dict[int, Any]:
    """The rows of a page by their ids."""
    rows = reading.Fields(found).rows(within) if within else found
    if not isinstance(rows, list):
        raise reading.Malformed("a list was expected")
    return {reading.Fields(row).number("id"): row for row in rows}
