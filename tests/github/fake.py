"""A GitHub of one repository on loopback: stateful, with permissions, pages, limits and trouble on demand.

    with serving() as gh:                      # or the fixture `gh`, which also fails the test for what GitHub would not have understood
        gh.api_url, gh.storage_url             # two hosts; the second refuses `Authorization`
        run = gh.run(event="workflow_dispatch")
        gh.artifact("eval-gate-baseline-x", run, folder)
        gh.fail("GET", "/actions/artifacts$", 502)

State lies open (`pulls`, `runs`, `artifacts`, `comments`, `checks`, `branches`, `tags`, `tokens`); `seen` holds every request. Rows are the JSON that
GitHub would send, filled from its description (`description.py`), which also checks all that is asked and answered.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import io
import json
import re
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.github.description import asked, description
from tests.github.routes import ROUTES, Answer, Refused

TOKEN = "ghs_0123456789abcdefghijklmnopqrstuvwxyz"
BOT = "github-actions[bot]"
ACCEPT = ".github/workflows/accept-baseline.yml"
EVAL = ".github/workflows/eval.yml"
WRITE = {"actions": "read", "contents": "read", "pull-requests": "write", "checks": "write"}
"""What our workflows ask for."""
READ = {"actions": "read", "contents": "read", "pull-requests": "read", "checks": "read"}
"""What a fork's token may do."""


@dataclasses.dataclass
class Token:
    """What a token may do, and whose it is; without `is_user` it belongs to an installation and `GET /user` is refused."""

    permissions: dict[str, str] = dataclasses.field(default_factory=lambda: dict(WRITE))
    login: str = BOT
    is_user: bool = False
    is_known: bool = True
    """Whether GraphQL says whose it is."""


@dataclasses.dataclass(frozen=True)
class Repository:
    """A repository: ours, or a fork."""

    id: int
    owner: str
    name: str

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"


@dataclasses.dataclass
class Call:
    """One request as it came; `status` is that of the answer, 0 when there was none; `at` is a time of the monotonic clock."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    token: Token = dataclasses.field(default_factory=Token)
    status: int = 0
    at: float = dataclasses.field(default_factory=time.monotonic)

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclasses.dataclass
class Trouble:
    """What happens to requests of a kind: `times` of them, after `skip` that pass. `act` returns an answer, or None to go on."""

    method: str
    pattern: re.Pattern[str]
    times: int
    skip: int
    act: Callable[[FakeGitHub, Call], Answer | None]
    after: bool = False
    """Whether the request takes effect first."""

    def takes(self, call: Call) -> bool:
        """Whether this request is one of those; counts it."""
        if self.times <= 0 or call.method != self.method or not self.pattern.search(call.path):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.times -= 1
        return True


@dataclasses.dataclass
class Archive:
    """What the storage host has for one artifact."""

    data: bytes
    content_type: str = "application/zip"


class FakeGitHub:
    """The state, the builders and the troubles. See the module's docstring."""

    def __init__(self) -> None:
        self.repository = Repository(1001, "octo", "demo")
        self.default_branch = "main"
        self.tokens: dict[str, Token] = {TOKEN: Token()}
        self.branches: dict[str, list[str]] = {"main": [sha(f"main-{number}") for number in range(1, 6)]}
        self.tags: dict[str, str] = {}
        self.pulls: dict[int, dict[str, Any]] = {}
        self.runs: dict[int, dict[str, Any]] = {}
        self.artifacts: dict[int, dict[str, Any]] = {}
        self.archives: dict[int, Archive] = {}
        self.comments: dict[int, dict[str, Any]] = {}
        self.checks: dict[int, dict[str, Any]] = {}
        self.links: dict[str, int] = {}
        self.seen: list[Call] = []
        self.violations: list[str] = []
        self.lock = threading.RLock()
        self._troubles: list[Trouble] = []
        self._numbers = iter(range(101, 10**9))
        self._servers: list[ThreadingHTTPServer] = []

    # ── the two hosts ──

    @property
    def api_url(self) -> str:
        """Root of the API, as GITHUB_API_URL gives it."""
        return f"http://127.0.0.1:{self._servers[0].server_address[1]}"

    @property
    def storage_url(self) -> str:
        """Root of the storage host."""
        return f"http://127.0.0.1:{self._servers[1].server_address[1]}"

    def start(self) -> None:
        """Open both hosts."""
        for serve in (self.serve_api, self.serve_storage):
            server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, serve))
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            self._servers.append(server)

    def stop(self) -> None:
        """Close both hosts."""
        for server in self._servers:
            server.shutdown()
            server.server_close()

    # ── builders ──

    def number(self) -> int:
        """A new id, larger than all before it."""
        return next(self._numbers)

    def tip(self, branch: str = "main") -> str:
        """The newest commit of a branch."""
        return self.branches[branch][-1]

    def push(self, branch: str = "main", commit: str | None = None) -> str:
        """A new commit on a branch of ours, which is made when it is new."""
        commit = commit or sha(f"{branch}-{self.number()}")
        self.branches.setdefault(branch, list(self.branches["main"])).append(commit)
        return commit

    def fork(self, owner: str = "mallory") -> Repository:
        """A stranger's fork of this repository."""
        return Repository(self.number(), owner, self.repository.name)

    def pull(self, branch: str = "feature", *, repo: Repository | None = None, base: str = "main", number: int | None = None, author: str = "alice") -> dict[str, Any]:
        """An open pull request, with a first commit of its own; its row, whose `number` and `head["sha"]` are what tests need."""
        head, number = repo or self.repository, number or self.number()
        commit = self.push(branch) if repo is None else sha(f"{head.full_name}-{branch}-{number}")
        row = description().filled(
            "pull-request", id=self.number(), number=number, state="open", title="A change", user=user(author), html_url=f"https://github.test/octo/demo/pull/{number}",
            head={"ref": branch, "sha": commit, "label": f"{head.owner}:{branch}", "user": user(head.owner), "repo": described(head)},
            base={"ref": base, "sha": self.tip(base), "label": f"octo:{base}", "user": user("octo"), "repo": described(self.repository)},
        )  # fmt: skip
        self.pulls[number] = row
        return row

    def run(self, event: str = "workflow_dispatch", branch: str = "main", *, repo: Repository | None = None, path: str = ACCEPT, **more: Any) -> dict[str, Any]:
        """A run, by default a finished one of the acceptance workflow on the default branch; `more` are fields of its row (`conclusion`, `status`, `head_sha`, `created_at`, …)."""
        head, number = repo or self.repository, self.number()
        commit = self.tip(branch) if repo is None and branch in self.branches else sha(f"{head.full_name}-{branch}-{number}")
        known = {
            "id": number, "name": "a workflow", "event": event, "head_branch": branch, "head_sha": commit, "path": path, "status": "completed", "conclusion": "success",
            "run_number": number, "run_attempt": 1, "created_at": ago(minutes=1), "html_url": f"https://github.test/octo/demo/actions/runs/{number}",
            "repository": described(self.repository), "head_repository": described(head), "actor": user("alice"), "triggering_actor": user("alice"), "pull_requests": [],
        }  # fmt: skip
        self.runs[number] = description().filled("workflow-run", **{**known, **more})
        return self.runs[number]

    def artifact(self, name: str, run: dict[str, Any] | None, content: bytes | Path, *, top: str = "", content_type: str = "application/zip", **more: Any) -> dict[str, Any]:
        """An artifact of a run: a zip, or a folder that is zipped below `top`; `more` are fields of its row (`expired`, `digest`, `created_at`, …)."""
        data, number = content if isinstance(content, bytes) else zipped(content, top), self.number()
        known = {
            "id": number, "name": name, "size_in_bytes": len(data), "expired": False, "created_at": ago(minutes=1), "expires_at": ago(days=-89), "updated_at": ago(minutes=1),
            "digest": f"sha256:{hashlib.sha256(data).hexdigest()}", "archive_download_url": f"https://github.test/octo/demo/actions/artifacts/{number}/zip",
            "workflow_run": None if run is None else {
                "id": run["id"], "repository_id": self.repository.id, "head_repository_id": run["head_repository"]["id"], "head_branch": run["head_branch"],
                "head_sha": run["head_sha"],
            },
        }  # fmt: skip
        self.artifacts[number] = description().filled("artifact", **{**known, **more})
        self.archives[number] = Archive(data, content_type)
        return self.artifacts[number]

    def comment(self, number: int, body: str, author: str = BOT) -> dict[str, Any]:
        """A comment that is there already."""
        own = self.number()
        url = f"https://github.test/octo/demo/pull/{number}#issuecomment-{own}"
        issue = f"{self.api_url}/repos/octo/demo/issues/{number}"
        self.comments[own] = description().filled("issue-comment", id=own, body=body, user=user(author), html_url=url, issue_url=issue)
        return self.comments[own]

    def comments_on(self, number: int) -> list[dict[str, Any]]:
        """The comments of a pull request, oldest first."""
        return [row for _, row in sorted(self.comments.items()) if row["issue_url"].endswith(f"/issues/{number}")]

    # ── trouble ──

    def trouble(self, method: str, pattern: str, act: Callable[[FakeGitHub, Call], Answer | None], *, times: int = 1, skip: int = 0, after: bool = False) -> None:
        """Let something happen to the next `times` requests whose path matches, after `skip` of them; `after` they took effect, or instead."""
        self._troubles.append(Trouble(method, re.compile(pattern), times, skip, act, after))

    def fail(self, method: str, pattern: str, status: int, *, times: int = 10**9, skip: int = 0, message: str = "It went wrong", **headers: str) -> None:
        """Answer with an error; the request takes no effect."""
        answer = Answer(status, {"message": message, "documentation_url": ""}, {name.replace("_", "-"): value for name, value in headers.items()})
        self.trouble(method, pattern, lambda _gh, _call: answer, times=times, skip=skip)

    def drop(self, method: str, pattern: str, *, times: int = 1) -> None:
        """Close the connection before anything takes effect."""
        self.trouble(method, pattern, lambda _gh, _call: Answer(0), times=times)

    def lose(self, method: str, pattern: str, *, times: int = 1, status: int = 502) -> None:
        """Let the request take effect, then answer with an error, or with status 0 not at all."""
        self.trouble(method, pattern, lambda _gh, _call: Answer(status, {"message": "Lost"}), times=times, after=True)

    def before(self, method: str, pattern: str, hook: Callable[[FakeGitHub], Any], *, skip: int = 0) -> None:
        """Do something just before the next such request."""

        def act(gh: FakeGitHub, _call: Call) -> None:
            hook(gh)

        self.trouble(method, pattern, act, skip=skip)

    def raw(self, method: str, pattern: str, data: bytes, *, times: int = 10**9) -> None:
        """Put these bytes on the wire in place of an answer."""
        self.trouble(method, pattern, lambda _gh, _call: Answer(0, raw=data), times=times)

    # ── what was asked ──

    def calls(self, method: str = "", pattern: str = "") -> list[Call]:
        """The requests of a kind so far, to both hosts."""
        return [call for call in self.seen if method in ("", call.method) and re.search(pattern, call.path)]

    def writes(self) -> list[Call]:
        """The requests that were to change something; GraphQL is only asked questions."""
        return [call for call in self.seen if call.method != "GET" and call.path != "/graphql"]

    def api_calls(self) -> list[Call]:
        """The requests to the API; an artifact's bytes come from a storage host."""
        return [call for call in self.seen if not call.path.startswith("/archives/")]

    # ── serving ──

    def serve_api(self, call: Call) -> Answer:
        """One request to the API."""
        with self.lock:
            self.seen.append(call)
            answer = self._troubled(call, after=False) or self._checked(call)
            if late := self._troubled(call, after=True):
                answer = late
            call.status = answer.status
            return answer

    def serve_storage(self, call: Call) -> Answer:
        """One request to the storage host."""
        with self.lock:
            self.seen.append(call)
            troubled = self._troubled(call, after=False)
            if troubled:
                return troubled
            if "authorization" in call.headers:
                self.violations.append("Authorization was sent to the storage host")
                return Answer(400, headers={"Content-Type": "application/xml"})
            number = self.links.get(call.path.rsplit("/", 1)[-1])
            if number is None:
                return Answer(403, headers={"Content-Type": "application/xml"})
            archive = self.archives[number]
            return Answer(200, raw_body=archive.data, headers={"Content-Type": archive.content_type})

    def _troubled(self, call: Call, *, after: bool) -> Answer | None:
        """Every trouble that takes this request acts; the first answer stays."""
        taken = [trouble for trouble in self._troubles if trouble.after == after and trouble.takes(call)]
        answers = [answer for answer in (trouble.act(self, call) for trouble in taken) if answer is not None]
        return answers[0] if answers else None

    def _checked(self, call: Call) -> Answer:
        if call.path == "/graphql":  # the description is that of REST
            return self._routed(call)
        request = asked(call.method, call.path, call.query, call.body, call.headers.get("content-type", ""))
        if fault := description().fault_of_request(request):
            self.violations.append(f"{call.method} {call.path} {call.query}: {fault}")
            return Answer(422, {"message": fault})
        answer = self._routed(call)
        if answer.body is not None and answer.status < 400 and (fault := description().fault_of_answer(request, answer.status, json.dumps(answer.body).encode())):
            self.violations.append(f"our own answer to {call.method} {call.path}: {fault}")
        return answer

    def _routed(self, call: Call) -> Answer:
        token = self.tokens.get(call.headers.get("authorization", "").rpartition(" ")[2])
        if token is None:
            return Answer(401, {"message": "Bad credentials", "documentation_url": ""})
        call.token = token
        for method, pattern, permissions, serve in ROUTES:
            found = pattern.fullmatch(call.path)
            if method == call.method and found:
                if permissions and not any(_may(token, one) for one in permissions.split("|")):
                    return Answer(403, {"message": "Resource not accessible by integration", "documentation_url": ""})
                try:
                    return serve(self, call, *map(unquote, found.groups()))
                except Refused as refused:
                    return refused.answer
        return Answer(404, {"message": "Not Found", "documentation_url": ""})


def _may(token: Token, permission: str) -> bool:
    name, level = permission.split(":")
    return token.permissions.get(name) in (level, "write")


@contextlib.contextmanager
def serving() -> Iterator[FakeGitHub]:
    """A fake that serves; what GitHub would not have understood is an error at the end."""
    gh = FakeGitHub()
    gh.start()
    try:
        yield gh
    finally:
        gh.stop()
    assert not gh.violations, "\n".join(gh.violations)


def sha(of: str) -> str:
    """A commit's name that stays the same for the same text."""
    return hashlib.sha1(of.encode()).hexdigest()


def ago(**time: float) -> str:
    """A time before now as GitHub writes it."""
    return (datetime.datetime.now(datetime.UTC) - datetime.timedelta(**time)).strftime("%Y-%m-%dT%H:%M:%SZ")


def user(login: str) -> dict[str, Any]:
    """An account; `[bot]` makes a bot of it."""
    return description().filled("simple-user", login=login, id=int(sha(login)[:6], 16), type="Bot" if login.endswith("[bot]") else "User")


def described(repo: Repository) -> dict[str, Any]:
    """A repository as runs and pull requests show it."""
    return description().filled("repository", id=repo.id, name=repo.name, full_name=repo.full_name, owner=user(repo.owner), default_branch="main", fork=repo.id != 1001)


def zipped(folder: Path, top: str = "") -> bytes:
    """A folder as upload-artifact packs it, below `top`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                packed.write(path, str(Path(top) / path.relative_to(folder)))
    return out.getvalue()


def zip_of(files: Mapping[str, bytes | str]) -> bytes:
    """A zip of these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return out.getvalue()


def _handler(gh: FakeGitHub, serve: Callable[[Call], Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 64 * 1024  # one packet for head and body, or each answer waits for an acknowledgement

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            call = Call(self.command, parts.path, dict(parse_qsl(parts.query, keep_blank_values=True)), {k.lower(): v for k, v in self.headers.items()}, body)
            with contextlib.suppress(OSError):  # a client that gave up
                self._send(serve(call))

        def _send(self, answer: Answer) -> None:
            if answer.status == 0:
                self.close_connection = True
                self.wfile.write(answer.raw)
                return
            data = answer.raw_body if answer.raw_body is not None else b"" if answer.body is None else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json; charset=utf-8", **answer.headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815 - names of the base class

        def log_message(self, *args: object) -> None:
            """Keep the test's output clean."""

    return Handler
