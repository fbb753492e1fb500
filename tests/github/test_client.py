"""The client against the fake, and against a server that talks nonsense."""

from __future__ import annotations

import inspect
import json
import ssl
import zlib

import github.GithubException
import pytest
import requests.exceptions
import urllib3.exceptions

from evalaction.errors import ConfigError, GitHubError
from evalaction.github.client import API_VERSION
from evalaction.github.facts import Annotation, CheckOutput
from tests.github.fake import ACCEPT, BOT, READ, TOKEN, Token, ago, zip_of

LIST = "/actions/artifacts$"


def _shown(count):
    return CheckOutput(title="t", summary="s", text="long", annotations=tuple(Annotation(path="a.yaml", line=n + 1, level="failure", title="t", message="m") for n in range(count)))


def test_construction__asks_nothing(gh, client):
    """A client that is only made has called nobody."""
    assert client().calls == 0
    assert gh.seen == []


def test_headers__version_pinned_and_token_sent(gh, github):
    """Every request names the version of the API and carries the token."""
    github.artifacts("x")
    assert gh.seen[0].headers["x-github-api-version"] == API_VERSION
    assert gh.seen[0].headers["authorization"].endswith(TOKEN)


def test_artifacts__all_pages_newest_first(gh, github):
    """250 artifacts come in three requests of 100, newest by creation time and then by id, others' names left out."""
    run = gh.run()
    for age in range(250):
        gh.artifact("x", run, b"", created_at=ago(hours=age % 50))
    gh.artifact("y", run, b"")
    found = github.artifacts("x")
    assert len(found) == 250
    assert found == sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)
    assert [(call.query["per_page"], call.query["page"]) for call in gh.seen] == [("100", "1"), ("100", "2"), ("100", "3")]


def test_artifacts__of_a_run_that_is_gone(gh, github):
    """An artifact whose run is gone has no facts of it."""
    gh.artifact("x", None, b"")
    (found,) = github.artifacts("x")
    assert (found.run_id, found.repository_id, found.head_branch) == (None, None, None)


def test_run_artifacts__all_pages(gh, github):
    """A run's own artifacts only, all of them."""
    run, other = gh.run(), gh.run()
    for number in range(120):
        gh.artifact(f"a{number}", run, b"")
    gh.artifact("b", other, b"")
    assert {one.name for one in github.run_artifacts(run["id"])} == {f"a{number}" for number in range(120)}


@pytest.mark.parametrize(
    ("path", "read"),
    [
        (f"{ACCEPT}@refs/heads/main", ACCEPT),
        (f"{ACCEPT}@main", ACCEPT),
        (ACCEPT, ACCEPT),
        (f"{ACCEPT}@other.yml", f"{ACCEPT}@other.yml"),
        (".github/workflows/a@b.yml", ".github/workflows/a@b.yml"),
    ],
)
def test_run__path_without_ref(gh, github, path, read):
    """A ref is taken off the workflow's path, and nothing that may belong to the file's name."""
    assert github.run(gh.run(path=path)["id"]).path == read


def test_run__of_a_fork(gh, github):
    """A fork's run keeps its repository apart from ours."""
    fork = gh.fork()
    found = github.run(gh.run("pull_request", repo=fork)["id"])
    assert (found.repository_id, found.head_repository_id, found.head_repository, found.head_owner) == (1001, fork.id, "mallory/demo", "mallory")


def test_runs_on__pages_only_as_needed(gh, github):
    """Runs come newest first, completed ones only, and the second page is asked for when it is reached."""
    runs = [gh.run(created_at=ago(hours=age)) for age in range(150)]
    gh.run(status="in_progress", conclusion=None)
    found = github.runs_on("main", most=120)
    assert [next(found).id for _ in range(3)] == [run["id"] for run in runs[:3]]
    assert len(gh.seen) == 1
    assert len(list(found)) == 117
    assert len(gh.seen) == 2


@pytest.mark.parametrize(("back", "status"), [(0, "identical"), (2, "behind")])
def test_position__on_the_branch(gh, github, back, status):
    """A commit of the branch is contained, so many commits behind."""
    found = github.position(gh.branches["main"][-1 - back], "main")
    assert (found.status, found.behind_by, found.is_contained) == (status, back, True)


def test_position__a_tag_of_the_branchs_name(gh, github):
    """A tag called like the branch is not meant."""
    gh.push("feature")
    gh.tags["main"] = gh.tip("feature")
    found = github.position(gh.tip("feature"), "main")
    assert (found.status, found.is_contained) == ("ahead", False)


def test_position__an_odd_branch_name(gh, github):
    """A branch's name is one part of the path, whatever it holds."""
    gh.push("feat/ü #1?x")
    assert github.position(gh.tip("main"), "feat/ü #1?x").status == "behind"


def test_position__unknown_commit(github):
    """A commit that nobody knows is missing."""
    with pytest.raises(GitHubError) as said:
        github.position("0" * 40, "main")
    assert (said.value.kind, said.value.status) == ("missing", 404)


def test_download__without_authorization(gh, github, tmp_path):
    """The archive comes from the other host, which never sees the token."""
    gh.artifact("x", gh.run(), zip_of({"a/b": "c"}))
    (artifact,) = github.artifacts("x")
    github.download(artifact, tmp_path / "x.zip", limit=10**6)
    assert (tmp_path / "x.zip").read_bytes() == gh.archives[artifact.id].data
    assert "authorization" not in gh.calls("GET", "^/archives/")[0].headers
    assert github.calls == len(gh.seen)


def test_download__netrc_of_the_machine(gh, github, tmp_path, monkeypatch):
    """A password file on the machine adds no authorization, to neither host."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login someone password something\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    gh.artifact("x", gh.run(), zip_of({"a/b": "c"}))
    github.download(github.artifacts("x")[0], tmp_path / "x.zip", limit=10**6)
    assert all(TOKEN in call.headers["authorization"] for call in gh.calls("GET", "^/repos"))


def test_download__a_dead_link_once(gh, github, tmp_path):
    """A link that died is asked for again, once."""
    gh.artifact("x", gh.run(), zip_of({"a/b": "c"}))
    gh.before("GET", "^/archives/", lambda gh: gh.links.clear())
    github.download(github.artifacts("x")[0], tmp_path / "x.zip", limit=10**6)
    assert len(gh.calls("GET", "/zip$")) == 2
    gh.fail("GET", "^/archives/", 403)
    with pytest.raises(GitHubError) as said:
        github.download(github.artifacts("x")[0], tmp_path / "y.zip", limit=10**6)
    assert said.value.kind == "unavailable"
    assert len(gh.calls("GET", "/zip$")) == 4
    assert not (tmp_path / "y.zip").exists()


@pytest.mark.parametrize("trouble", ["5xx", "no answer", "half"])
def test_download__storage_fails_then_works(gh, github, slept, tmp_path, trouble):
    """A storage host that fails twice is asked three times, with growing pauses, and a half file is not kept."""
    gh.artifact("x", gh.run(), zip_of({"a/b": "c" * 1000}))
    half = b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 1000\r\n\r\nPK"
    {"5xx": lambda: gh.fail("GET", "^/archives/", 503, times=2), "no answer": lambda: gh.drop("GET", "^/archives/", times=2),
     "half": lambda: gh.raw("GET", "^/archives/", half, times=2)}[trouble]()  # fmt: skip
    github.download(github.artifacts("x")[0], tmp_path / "x.zip", limit=10**6)
    assert slept == [1.0, 3.0]
    assert (tmp_path / "x.zip").read_bytes().startswith(b"PK\x03\x04")


@pytest.mark.parametrize("said", ["listed size", "length header", "body"])
def test_download__too_large(gh, github, tmp_path, said):
    """More than the limit is refused by its listed size, by its header or while it comes, and nothing stays on disk."""
    row = gh.artifact("x", gh.run(), b"PK" + b"0" * 5000)
    if said != "listed size":
        row["size_in_bytes"] = 10
    if said == "body":
        gh.raw("GET", "^/archives/", b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nConnection: close\r\n\r\n" + b"0" * 5000)
    with pytest.raises(GitHubError, match=r"larger than|more than") as refused:
        github.download(github.artifacts("x")[0], tmp_path / "x.zip", limit=1000)
    assert refused.value.kind == "refused"
    assert list(tmp_path.iterdir()) == []


def test_download__a_page_instead_of_a_zip(gh, github, tmp_path):
    """A login page is refused by its type."""
    gh.artifact("x", gh.run(), b"<html>", content_type="text/html; charset=utf-8")
    with pytest.raises(GitHubError, match="no zip") as refused:
        github.download(github.artifacts("x")[0], tmp_path / "x.zip", limit=1000)
    assert refused.value.kind == "refused"


def test_download__an_encoded_body_is_not_unpacked(gh, github, tmp_path):
    """A body that says it is compressed is kept as it came: unpacking could be a bomb."""
    packed = zlib.compress(b"0" * 10_000_000)
    gh.artifact("x", gh.run(), b"")
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Encoding: deflate\r\nContent-Length: {len(packed)}\r\n\r\n"
    gh.raw("GET", "^/archives/", head.encode() + packed)
    github.download(github.artifacts("x")[0], tmp_path / "x.zip", limit=100_000)
    assert (tmp_path / "x.zip").read_bytes() == packed


@pytest.mark.parametrize("link", ["ftp://127.0.0.1/x", "file:///etc/passwd", "//evil", "http://[", "nonsense"])
def test_download__a_link_elsewhere(gh, github, tmp_path, link):
    """Only web addresses are followed."""
    gh.artifact("x", gh.run(), b"PK")
    gh.raw("GET", "/zip$", f"HTTP/1.1 302 Found\r\nLocation: {link}\r\nContent-Length: 0\r\n\r\n".encode())
    with pytest.raises(GitHubError) as said:
        github.download(github.artifacts("x")[0], tmp_path / "x.zip", limit=1000)
    assert said.value.kind == "unavailable"
    assert list(tmp_path.iterdir()) == []


def test_download__storage_redirects(gh, github, tmp_path):
    """A redirect of the storage host is not followed."""
    gh.artifact("x", gh.run(), b"PK")
    gh.raw("GET", "^/archives/", f"HTTP/1.1 302 Found\r\nLocation: {gh.api_url}/user\r\nContent-Length: 0\r\n\r\n".encode())
    with pytest.raises(GitHubError):
        github.download(github.artifacts("x")[0], tmp_path / "x.zip", limit=1000)
    assert not gh.calls("GET", "^/user")


def test_download__nowhere_to_write(gh, github, tmp_path):
    """A disk that refuses is a configuration error, not GitHub's fault."""
    gh.artifact("x", gh.run(), b"PK")
    with pytest.raises(ConfigError, match="CANNOT_WRITE"):
        github.download(github.artifacts("x")[0], tmp_path / "missing" / "x.zip", limit=1000)


def test_download__expired(gh, github, tmp_path):
    """An artifact that expired after it was listed is missing, with the status that says so."""
    row = gh.artifact("x", gh.run(), b"PK")
    (artifact,) = github.artifacts("x")
    row["expired"] = True
    with pytest.raises(GitHubError) as said:
        github.download(artifact, tmp_path / "x.zip", limit=1000)
    assert (said.value.kind, said.value.status) == ("missing", 410)


def test_pulls__by_head(gh, github):
    """Open pull requests of one owner's branch; a fork that is gone leaves no repository."""
    fork = gh.fork()
    theirs, _, closed = gh.pull("fix", repo=fork), gh.pull("fix"), gh.pull("fix", repo=fork)
    closed["state"] = "closed"
    (found,) = github.pulls_from("mallory", "fix")
    assert (found.number, found.head_repository_id, found.is_fork) == (theirs["number"], fork.id, True)
    theirs["head"]["repo"] = None
    assert github.pull(theirs["number"]).head_repository_id is None
    assert github.pull(theirs["number"]).is_fork


def test_comments__whole_life(gh, github):
    """Post, edit, list over pages, delete; deleting twice is no error."""
    number = gh.pull()["number"]
    for talk in range(130):
        gh.comment(number, f"talk {talk}", "human")
    posted = github.create_comment(number, "first")
    assert (posted.author, posted.author_is_bot) == (BOT, True)
    assert github.edit_comment(posted.id, "second").body == "second"
    assert [one.body for one in github.comments(number)][-1] == "second"
    assert len(github.comments(number)) == 131
    github.delete_comment(posted.id)
    github.delete_comment(posted.id)
    assert len(github.comments(number)) == 130


@pytest.mark.parametrize(
    ("token", "login"),
    [(Token(), "github-actions[bot]"), (Token(login="our-app"), "our-app[bot]"), (Token(is_known=False), None), (Token(login="bob", is_user=True), "bob")],
)
def test_login__whose_token_it_is(gh, github, token, login):
    """A user's token is its owner's, an installation's that of its app, as comments name it; where nobody says, it is nobody's."""
    gh.tokens[TOKEN] = token
    assert github.login() == login


def test_checks__whole_life(gh, github):
    """Open in progress, add annotations, complete; found by name and commit, superseded ones too."""
    opened = github.create_check("gate", gh.tip(), external_id="k", title="t", summary="s")
    assert opened.status == "in_progress"
    github.create_check("gate", gh.tip(), external_id="other", title="t", summary="s")
    assert github.update_check(opened.id, conclusion="failure", output=_shown(50)).status == "completed"
    assert github.update_check(opened.id, conclusion=None, output=_shown(3)).status == "completed"
    row = gh.checks[opened.id]
    assert (row["conclusion"], len(row["annotations"]), row["output"]["text"]) == ("failure", 53, "long")
    assert {one.external_id for one in github.checks(gh.tip(), "gate")} == {"k", "other"}


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "permission"), (403, "permission"), (404, "missing"), (410, "missing"), (422, "refused"), (409, "refused"), (500, "unavailable"), (503, "unavailable")],
)
def test_refusals__by_kind(gh, github, status, kind):
    """Each refusal has its kind, its status, the request and GitHub's words."""
    gh.fail("GET", LIST, status, message="because\nof ::error::this")
    with pytest.raises(GitHubError) as said:
        github.artifacts("x")
    assert (said.value.kind, said.value.status) == (kind, status)
    assert f"GET /repos/octo/demo/actions/artifacts: {status} because of ::error::this" == str(said.value)


def test_refusals__never_show_the_token(gh, github):
    """A server that repeats the token does not bring it into our messages."""
    gh.fail("GET", LIST, 403, message=f"bad token {TOKEN} and {TOKEN[:-1]}")
    with pytest.raises(GitHubError) as said:
        github.artifacts("x")
    assert TOKEN not in str(said.value)
    assert TOKEN not in repr(github)


def test_unknown_token__permission(client):
    """A wrong token is a matter of permission."""
    with pytest.raises(GitHubError) as said:
        client(token="ghs_unknown_unknown_unknown").artifacts("x")
    assert (said.value.kind, said.value.status) == ("permission", 401)


@pytest.mark.parametrize("trouble", ["5xx", "no answer"])
@pytest.mark.parametrize("times", [2, 3])
def test_reading__three_tries(gh, github, slept, trouble, times):
    """A read is tried three times with growing pauses."""
    gh.fail("GET", LIST, 502, times=times) if trouble == "5xx" else gh.drop("GET", LIST, times=times)
    if times == 2:
        assert github.artifacts("x") == []
    else:
        with pytest.raises(GitHubError) as said:
            github.artifacts("x")
        assert said.value.kind == "unavailable"
    assert slept == [1.0, 3.0]
    assert github.calls == 3


@pytest.mark.parametrize("status", [0, 500, 502])
def test_posting__never_twice(gh, github, slept, status):
    """A post whose answer is lost is not repeated: it took effect."""
    number = gh.pull()["number"]
    gh.lose("POST", "/comments$", status=status)
    gh.lose("POST", "/check-runs$", status=status)
    for post in (lambda: github.create_comment(number, "x"), lambda: github.create_check("gate", gh.tip(), external_id="k", title="t", summary="s")):
        with pytest.raises(GitHubError) as said:
            post()
        assert said.value.kind == "unavailable"
    assert (len(gh.comments), len(gh.checks), slept) == (1, 1, [])


def test_editing__repeated(gh, github):
    """An edit may be repeated, for it says the same twice."""
    number = gh.pull()["number"]
    posted = github.create_comment(number, "x")
    gh.lose("PATCH", "/comments/", times=2)
    assert github.edit_comment(posted.id, "y").body == "y"
    gh.lose("DELETE", "/comments/")
    github.delete_comment(posted.id)
    assert not gh.comments


@pytest.mark.parametrize(
    ("trouble", "waited"),
    [
        ((403, "no", {"retry_after": "7"}), 7),
        ((429, "no", {"retry_after": "7"}), 7),
        ((429, "no", {}), 60),
        ((403, "You have exceeded a secondary rate limit. Please wait.", {}), 60),
        ((403, "no", {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1800000020"}), 21),
        ((403, "no", {"x_ratelimit_remaining": "0"}), 60),
        ((403, "no", {"retry_after": "0"}), 1),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
def test_rate_limit__waited_for(gh, github, slept, method, trouble, waited):
    """A limit is waited for as long as its hint says, for reads and writes alike, and the request then takes effect once."""
    pull, (status, message, headers) = gh.pull()["number"], trouble
    posted = gh.comment(pull, "there")
    gh.fail(method, "/comments", status, times=1, message=message, **headers)
    {"GET": lambda: github.comments(pull), "POST": lambda: github.create_comment(pull, "x"), "PATCH": lambda: github.edit_comment(posted["id"], "x")}[method]()
    assert slept == [waited]
    assert len(gh.comments) == (2 if method == "POST" else 1)


@pytest.mark.parametrize("headers", [{"retry_after": "3600"}, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1800003600"}, {"retry_after": "1e400"}])
def test_rate_limit__too_long(gh, github, slept, headers):
    """A limit beyond a minute is not waited for; the error says until when."""
    gh.fail("GET", LIST, 403, **headers)
    with pytest.raises(GitHubError, match=r"rate limit until (2027-01-15 0|20|later)") as said:
        github.artifacts("x")
    assert said.value.kind == "unavailable"
    assert slept == []


def test_rate_limit__a_minute_in_all(gh, github, slept):
    """Limits that follow one another are waited for up to a minute together."""
    gh.fail("GET", LIST, 429, retry_after="25")
    with pytest.raises(GitHubError, match="rate limit until"):
        github.artifacts("x")
    assert slept == [25, 25]


NONSENSE = {
    "no http": b"\x00\x01\x02 hello\r\n\r\n",
    "no json": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "half json": b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"artifac',
    "not utf-8": b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n{"\xff"',
    "bad gzip": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    "bad chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
    "short body": b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{}",
    "many headers": b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(500)) + b"\r\n",
    "long line": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    "deep json": b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + b"[" * 200_000,
    "a list": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
    "null": b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull",
    "rows of text": b'HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n{"artifacts":["a"]}',
    "row without fields": b'HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\n{"artifacts":[{"id":1}]}'[:-1],
    "boolean id": b'HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\n{"artifacts":[{"id":true}]}',
    "a redirect elsewhere": b"HTTP/1.1 301 Moved\r\nLocation: http://evil.invalid/x\r\nContent-Length: 0\r\n\r\n",
    "a redirect to https": b"HTTP/1.1 301 Moved\r\nLocation: https://127.0.0.1/x\r\nContent-Length: 0\r\n\r\n",
    "a redirect here": b"HTTP/1.1 301 Moved\r\nLocation: /repos/octo/demo/actions/artifacts\r\nContent-Length: 0\r\n\r\n",
    "a redirect by 307": b"HTTP/1.1 307 Moved\r\nLocation: http://evil.invalid/x\r\nContent-Length: 0\r\n\r\n",
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense__is_unavailable(gh, github, kind):
    """Whatever comes over the wire that is no answer ends as GitHubError `unavailable`, without a traceback of others and without the token."""
    gh.raw("GET", LIST, NONSENSE[kind])
    with pytest.raises(GitHubError) as said:
        github.artifacts("x")
    assert said.value.kind == "unavailable"
    assert TOKEN not in str(said.value)


def _all_exceptions():
    modules = (github.GithubException, requests.exceptions, urllib3.exceptions, ssl, json, zlib)
    kinds = {kind for module in modules for kind in vars(module).values() if inspect.isclass(kind)}
    found = {kind for kind in kinds if issubclass(kind, Exception) and not issubclass(kind, Warning)}
    found |= {AssertionError, RuntimeError, RecursionError, OSError, MemoryError, ValueError, KeyError, UnicodeError}
    return sorted(found, key=lambda kind: (kind.__module__, kind.__name__))


@pytest.mark.parametrize("kind", _all_exceptions(), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_customs_post__nothing_passes_unmapped(client, monkeypatch, kind):
    """Every exception of every library below us becomes a GitHubError."""

    def raising(*_, **__):
        raise kind.__new__(kind)

    monkeypatch.setattr("github.Requester.Requester.requestJson", raising)
    with pytest.raises(GitHubError) as said:
        client().artifacts("x")
    assert said.value.kind == "unavailable"
    assert kind.__name__ in str(said.value)


def test_no_server__unavailable(client):
    """A host that nobody serves, and TLS where there is none, are unavailable."""
    for url in ("http://127.0.0.1:9", "https://127.0.0.1:9"):
        with pytest.raises(GitHubError) as said:
            client(api_url=url).artifacts("x")
        assert said.value.kind == "unavailable"


def test_pages__a_server_that_never_ends(gh, github):
    """A server that answers every page with the first one is found out on the second."""
    gh.artifact("x", gh.run(), b"")
    body = json.dumps({"total_count": 1, "artifacts": list(gh.artifacts.values())}).encode()
    gh.raw("GET", LIST, b'HTTP/1.1 200 OK\r\nLink: <http://x/>; rel="next"\r\nContent-Length: %d\r\n\r\n' % len(body) + body)
    with pytest.raises(GitHubError, match="nothing new"):
        github.artifacts("x")
    assert len(gh.seen) == 2


def test_pages__a_list_that_grows_meanwhile(gh, github):
    """An artifact that is uploaded while the pages are read moves the others on, and none comes twice."""
    run = gh.run()
    for _ in range(150):
        gh.artifact("x", run, b"")
    gh.before("GET", LIST, lambda gh: gh.artifact("x", run, b""), skip=1)
    ids = [one.id for one in github.artifacts("x")]
    assert len(ids) == len(set(ids)) == 150


@pytest.mark.parametrize("url", ["", "api.github.com", "ftp://x", "http://", "http://[", "https://me:secret@x", "http://x:abc", "https://x/?a=b"])
def test_address__no_web_address(client, url):
    """An address of the API that is none is a configuration error before anything is asked, and does not repeat it."""
    with pytest.raises(ConfigError, match="INVALID_INPUT") as said:
        client(api_url=url)
    assert "secret" not in str(said.value)


@pytest.mark.parametrize("name", ["", "demo", "octo/demo/x", "octo/..", "../demo", "octo/de mo", "octo/demo?x", "octo/demo\n"])
def test_repository__not_a_name(client, name):
    """A repository's name cannot reach another path of the API."""
    with pytest.raises(ConfigError, match="INVALID_INPUT"):
        client(repository=name)


def test_address__below_a_path(gh, client):
    """The API of an enterprise server lies below a path, and every request stays there."""
    with pytest.raises(GitHubError):
        client(api_url=f"{gh.api_url}/api/v3/").artifacts("x")
    assert [call.path for call in gh.seen] == ["/api/v3/repos/octo/demo/actions/artifacts"]
    gh.violations.clear()


def test_read_only_token__may_not_write(gh, github):
    """A fork's token reads everything and writes nothing."""
    gh.tokens[TOKEN] = Token(permissions=READ)
    number = gh.pull()["number"]
    assert github.comments(number) == []
    for write in (lambda: github.create_comment(number, "x"), lambda: github.create_check("g", gh.tip(), external_id="k", title="t", summary="s")):
        with pytest.raises(GitHubError, match="Resource not accessible by integration") as said:
            write()
        assert said.value.kind == "permission"
