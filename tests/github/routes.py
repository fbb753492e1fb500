"""What the fake answers, endpoint by endpoint, by GitHub's rules: permissions, pages, limits, what is gone."""

from __future__ import annotations

import dataclasses
import re
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.github.description import description

if TYPE_CHECKING:
    from tests.github.fake import Call, FakeGitHub

COMMENT_LIMIT = 65_536


@dataclasses.dataclass
class Answer:
    """An answer: JSON, or a body of bytes; with status 0 the connection closes after `raw`."""

    status: int
    body: Any = None
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    raw_body: bytes | None = None
    raw: bytes = b""


class Refused(Exception):
    """A request that GitHub refuses."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.answer = Answer(status, {"message": message, "documentation_url": "", "errors": []} if status == 422 else {"message": message, "documentation_url": ""})


def _paged(call: Call, rows: list[Any], within: str | None = None) -> Answer:
    size, page = int(call.query.get("per_page", 30)), int(call.query.get("page", 1))
    cut = rows[(page - 1) * size : page * size]
    headers = {"Link": f'<https://api.github.test{call.path}?page={page + 1}>; rel="next"'} if page * size < len(rows) else {}
    return Answer(200, cut if within is None else {"total_count": len(rows), within: cut}, headers)


def _of(rows: dict[int, Any], number: str) -> Any:
    if int(number) not in rows:
        raise Refused(404, "Not Found")
    return rows[int(number)]


def artifacts(gh: FakeGitHub, call: Call) -> Answer:
    """By name where one is given, newest id first."""
    name = call.query.get("name")
    return _paged(call, [row for _, row in sorted(gh.artifacts.items(), reverse=True) if name in (None, row["name"])], "artifacts")


def run_artifacts(gh: FakeGitHub, call: Call, run: str) -> Answer:
    """Those of one run."""
    _of(gh.runs, run)
    return _paged(call, [row for row in gh.artifacts.values() if (row["workflow_run"] or {}).get("id") == int(run)], "artifacts")


def archive(gh: FakeGitHub, call: Call, number: str, form: str) -> Answer:
    """A link to the storage host that is good for one minute; of an expired artifact none."""
    if _of(gh.artifacts, number)["expired"]:
        raise Refused(410, "Artifact has expired")
    key = uuid.uuid4().hex
    gh.links[key] = int(number)
    return Answer(302, headers={"Location": f"{gh.storage_url}/archives/{key}?sig=secret-signature"})


def runs(gh: FakeGitHub, call: Call) -> Answer:
    """Newest first; a branch's name also means forks' branches of that name."""
    wanted = {"head_branch": call.query.get("branch"), "event": call.query.get("event"), "status": call.query.get("status")}
    found = [row for row in gh.runs.values() if all(value in (None, row[name]) for name, value in wanted.items())]
    return _paged(call, sorted(found, key=lambda row: (row["created_at"], row["id"]), reverse=True), "workflow_runs")


def workflow_runs(gh: FakeGitHub, call: Call, workflow: str) -> Answer:
    """Those of one file, newest first; `status` is also asked for conclusions."""
    found = [row for row in gh.runs.values() if row["path"].rpartition("/")[2] == workflow and call.query.get("branch") in (None, row["head_branch"])]
    if not found:
        raise Refused(404, "Not Found")
    found = [row for row in found if call.query.get("status") in (None, row["status"], row["conclusion"])]
    return _paged(call, sorted(found, key=lambda row: (row["created_at"], row["id"]), reverse=True), "workflow_runs")


def run(gh: FakeGitHub, call: Call, number: str) -> Answer:
    """One run."""
    return Answer(200, _of(gh.runs, number))


def compare(gh: FakeGitHub, call: Call, between: str) -> Answer:
    """`base...head`; a bare name means a tag before a branch."""
    base, _, head = between.partition("...")
    line, at = _line(gh, base), _line(gh, head)
    tip = at[-1]
    if tip in line:
        behind = len(line) - 1 - line.index(tip)
        return _compared("behind" if behind else "identical", 0, behind)
    shared = sum(commit in line for commit in at)
    ahead, behind = len(at) - shared, len(line) - shared
    return _compared("ahead" if behind == 0 else "diverged", ahead, behind)


def _compared(status: str, ahead: int, behind: int) -> Answer:
    return Answer(200, description().filled("commit-comparison", status=status, ahead_by=ahead, behind_by=behind, total_commits=ahead))


def _line(gh: FakeGitHub, name: str) -> list[str]:
    """The commits that a name stands for, oldest first."""
    branch = name.removeprefix("refs/").removeprefix("heads/")
    if not name.startswith(("heads/", "refs/heads/")) and name in gh.tags:
        return [gh.tags[name]]
    if branch in gh.branches:
        return gh.branches[branch]
    for line in gh.branches.values():
        if name in line:
            return line[: line.index(name) + 1]
    raise Refused(404, "Not Found")


def pull(gh: FakeGitHub, call: Call, number: str) -> Answer:
    """One pull request."""
    return Answer(200, _of(gh.pulls, number))


def pulls(gh: FakeGitHub, call: Call) -> Answer:
    """By state and head."""
    state, head = call.query.get("state", "open"), call.query.get("head")
    found = [row for row in gh.pulls.values() if state in ("all", row["state"]) and head in (None, row["head"]["label"])]
    return _paged(call, [{**description().filled("pull-request-simple"), **row} for row in found])


def comments(gh: FakeGitHub, call: Call, number: str) -> Answer:
    """Oldest first."""
    _of(gh.pulls, number)
    return _paged(call, gh.comments_on(int(number)))


def post_comment(gh: FakeGitHub, call: Call, number: str) -> Answer:
    """Refused on a locked conversation and beyond the limit."""
    if _of(gh.pulls, number)["locked"]:
        raise Refused(403, "Unable to create comment because issue is locked")
    return Answer(201, gh.comment(int(number), _fitting(call), call.token.login))


def patch_comment(gh: FakeGitHub, call: Call, number: str) -> Answer:
    """Anybody's comment may be edited by who may write."""
    row = _of(gh.comments, number)
    row["body"] = _fitting(call)
    return Answer(200, row)


def delete_comment(gh: FakeGitHub, call: Call, number: str) -> Answer:
    """Gone for good."""
    _of(gh.comments, number)
    del gh.comments[int(number)]
    return Answer(204)


def _fitting(call: Call) -> str:
    body = call.json["body"]
    if not body.strip() or len(body) > COMMENT_LIMIT:
        raise Refused(422, f"Validation Failed: body is blank or too long (maximum is {COMMENT_LIMIT} characters)")
    return str(body)


def post_check(gh: FakeGitHub, call: Call) -> Answer:
    """A new check run, whatever others of its name there are."""
    asked, number = call.json, gh.number()
    row = description().filled(
        "check-run", id=number, name=asked["name"], head_sha=asked["head_sha"], external_id=asked.get("external_id", ""), status="queued", conclusion=None,
        html_url=f"https://github.test/octo/demo/runs/{number}", app=_app_of(call),
        output={"title": None, "summary": None, "text": None, "annotations_count": 0, "annotations_url": ""},
    )  # fmt: skip
    gh.checks[number] = {**row, "annotations": []}
    return Answer(201, _updated(gh.checks[number], asked))


def _app_of(call: Call) -> dict[str, Any] | None:
    """The app that made a check run, which may edit it; only apps may make one."""
    if not call.token.login.endswith("[bot]"):
        return None
    name, made = call.token.login.removesuffix("[bot]"), "2018-07-30T09:30:17Z"
    owner = description().filled("simple-user", login="github")
    return {
        "id": 15368, "slug": name, "node_id": "", "owner": owner, "name": name, "description": None, "external_url": "https://github.test", "html_url": "https://github.test",
        "created_at": made, "updated_at": made, "permissions": {}, "events": [],
    }  # fmt: skip


def patch_check(gh: FakeGitHub, call: Call, number: str) -> Answer:
    """Texts are replaced, annotations added."""
    return Answer(200, _updated(_of(gh.checks, number), call.json))


def _updated(row: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    if asked.get("status") == "completed" and not asked.get("conclusion"):
        raise Refused(422, "Invalid request: a completed check needs a conclusion")
    output = asked.get("output", {})
    for one in output.get("annotations", ()):
        if one["path"].startswith(("/", "../")) or one["start_line"] < 1 or one["end_line"] < one["start_line"] or len(one["message"].encode()) > 64 * 1024:
            raise Refused(422, "Invalid request: an annotation is out of place")
    row.update({name: asked[name] for name in ("status", "conclusion", "external_id", "name") if name in asked})
    if asked.get("conclusion"):
        row["status"] = "completed"
    row["annotations"] += output.get("annotations", [])
    row["output"].update({name: output[name] for name in ("title", "summary", "text") if name in output}, annotations_count=len(row["annotations"]))
    return {name: value for name, value in row.items() if name != "annotations"}


def checks(gh: FakeGitHub, call: Call, commit: str) -> Answer:
    """Those of a name on a commit; only the latest of each name unless all are asked for."""
    found = [row for row in gh.checks.values() if row["head_sha"] == commit and call.query.get("check_name") in (None, row["name"])]
    if call.query.get("filter", "latest") == "latest":
        found = list({row["name"]: row for row in found}.values())
    return _paged(call, [{name: value for name, value in row.items() if name != "annotations"} for row in found], "check_runs")


def whoami(gh: FakeGitHub, call: Call) -> Answer:
    """A user's token only."""
    if not call.token.is_user:
        raise Refused(403, "Resource not accessible by integration")
    return Answer(200, description().filled("private-user", login=call.token.login))


def viewer(gh: FakeGitHub, call: Call) -> Answer:
    """GraphQL, as far as one question: whose token this is."""
    if "viewer" not in call.json["query"] or not call.token.is_known:
        return Answer(200, {"data": None, "errors": [{"message": "Resource not accessible by integration"}]})
    return Answer(200, {"data": {"viewer": {"login": call.token.login}}})


def repository(gh: FakeGitHub, call: Call) -> Answer:
    """Ours."""
    own = gh.repository
    return Answer(200, description().filled("full-repository", id=own.id, name=own.name, full_name=own.full_name, default_branch=gh.default_branch))


_R = "/repos/octo/demo"
_WRITES = "pull-requests:write|issues:write"
ROUTES: list[tuple[str, re.Pattern[str], str, Callable[..., Answer]]] = [
    (method, re.compile(pattern), permissions, serve)
    for method, pattern, permissions, serve in (
        ("GET", _R, "", repository),
        ("GET", "/user", "", whoami),
        ("POST", "/graphql", "", viewer),
        ("GET", f"{_R}/actions/artifacts", "actions:read", artifacts),
        ("GET", f"{_R}/actions/artifacts/([0-9]+)/(zip)", "actions:read", archive),
        ("GET", f"{_R}/actions/runs", "actions:read", runs),
        ("GET", f"{_R}/actions/runs/([0-9]+)", "actions:read", run),
        ("GET", f"{_R}/actions/runs/([0-9]+)/artifacts", "actions:read", run_artifacts),
        ("GET", f"{_R}/actions/workflows/([^/]+)/runs", "actions:read", workflow_runs),
        ("GET", f"{_R}/compare/([^/]+)", "contents:read", compare),
        ("GET", f"{_R}/pulls", "pull-requests:read", pulls),
        ("GET", f"{_R}/pulls/([0-9]+)", "pull-requests:read", pull),
        ("GET", f"{_R}/issues/([0-9]+)/comments", "pull-requests:read|issues:read", comments),
        ("POST", f"{_R}/issues/([0-9]+)/comments", _WRITES, post_comment),
        ("PATCH", f"{_R}/issues/comments/([0-9]+)", _WRITES, patch_comment),
        ("DELETE", f"{_R}/issues/comments/([0-9]+)", _WRITES, delete_comment),
        ("POST", f"{_R}/check-runs", "checks:write", post_check),
        ("PATCH", f"{_R}/check-runs/([0-9]+)", "checks:write", patch_check),
        ("GET", f"{_R}/commits/([0-9a-f]+)/check-runs", "checks:read", checks),
    )
]
