"""The one comment, also when others paste its marker, answers get lost and two runs post at once."""

from __future__ import annotations

import pytest

from evalaction.errors import GitHubError
from evalaction.github.comment import StickyComment
from tests.github.fake import BOT, READ, TOKEN, Token

MARKER = "<!-- eval-gate:eval:v1 -->"
POST = "/issues/[0-9]+/comments$"


@pytest.fixture
def pull(gh):
    """A pull request's row."""
    return gh.pull(number=12)


@pytest.fixture
def publish(github, pull):
    """Publishes a body on it, as a run of its head would."""

    def show(body="report", *, marker=MARKER, author=None, head=None, client=github):
        sticky = StickyComment(client, marker, author)
        known = client.pull(12)
        return sticky.publish(known, head or pull["head"]["sha"], f"{marker}\n{body}"), sticky

    return show


def _bodies(gh):
    return [row["body"] for row in gh.comments_on(12)]


def test_publish__posts_then_edits(gh, publish):
    """The first run posts, the second edits the same comment in place, and nothing is deleted."""
    first, _ = publish("one")
    second, _ = publish("two")
    assert first.id == second.id
    assert _bodies(gh) == [f"{MARKER}\ntwo"]
    assert not gh.calls("DELETE")


def test_publish__body_without_marker(gh, github, pull):
    """A body without the marker gets it, or the comment would never be found again."""
    StickyComment(github, MARKER, None).publish(github.pull(12), pull["head"]["sha"], "plain")
    assert _bodies(gh) == [f"{MARKER}\nplain"]


def test_publish__beyond_the_first_page(gh, publish):
    """Ours is found with 130 others before and 130 after it."""
    for number in range(130):
        gh.comment(12, f"talk {number}", "human")
    first, _ = publish("one")
    for number in range(130):
        gh.comment(12, f"talk {number}", "human")
    assert publish("two")[0].id == first.id
    assert len(gh.comments) == 261


@pytest.mark.parametrize("body", [f"{MARKER}\nreport", f"> {MARKER}", f"look:\n{MARKER}"])
@pytest.mark.parametrize("author", ["mallory", "octo-bot[bot]", BOT])
def test_publish__others_with_our_marker(gh, publish, body, author):
    """Who pastes the marker is left alone, another bot too, and so is a comment of ours that only quotes it."""
    if author == BOT and body.startswith(MARKER):
        body = body.replace(":eval:", ":eval2:")
    theirs = gh.comment(12, body, author)
    publish("mine")
    assert gh.comments[theirs["id"]]["body"] == body
    assert len(gh.comments) == 2


def test_publish__two_keys(gh, publish):
    """Two markers keep two comments."""
    other = "<!-- eval-gate:other:v1 -->"
    for _ in range(2):
        publish()
        publish(marker=other)
    assert len(gh.comments) == 2


def test_publish__line_ends_of_the_web(gh, publish):
    """A marker is found where the line ends as the web writes it."""
    gh.comment(12, f"{MARKER}\r\nold", BOT)
    publish("new")
    assert _bodies(gh) == [f"{MARKER}\nnew"]


def test_publish__stale_head(gh, publish, pull):
    """A run of an older head writes nothing and says why."""
    shown, sticky = publish(head="0" * 40)
    assert shown is None
    assert "stale" in sticky.reason
    assert pull["head"]["sha"][:10] in sticky.reason
    assert not gh.writes()


def test_publish__head_moves_while_we_read(gh, publish, pull):
    """A push that comes while the comments are read still keeps the older report out."""
    gh.before("GET", POST, lambda _: pull["head"].update(sha="1" * 40))
    shown, sticky = publish(head=pull["head"]["sha"])
    assert shown is None
    assert "stale" in sticky.reason
    assert not gh.writes()


def test_publish__deleted_between_list_and_edit(gh, publish):
    """A comment that is deleted while we write is posted anew, once."""
    publish("one")
    gh.before("PATCH", "/issues/comments/", lambda gh: gh.comments.clear())
    publish("two")
    assert _bodies(gh) == [f"{MARKER}\ntwo"]


@pytest.mark.parametrize("status", [0, 500, 502])
def test_publish__answer_lost(gh, publish, status):
    """A post that took effect while its answer was lost is found, not repeated."""
    gh.lose("POST", POST, status=status)
    assert publish("one")[0].body == f"{MARKER}\none"
    assert len(gh.calls("POST", POST)) == len(gh.comments) == 1


@pytest.mark.parametrize("status", [0, 500])
def test_publish__post_failed(gh, publish, status):
    """A post that did not take effect is repeated once, and then given up."""
    gh.drop("POST", POST) if status == 0 else gh.fail("POST", POST, status, times=1)
    publish("one")
    assert len(gh.comments) == 1
    gh.comments.clear()
    gh.fail("POST", POST, 500)
    with pytest.raises(GitHubError):
        publish("two")
    assert len(gh.calls("POST", POST)) == 4
    assert not gh.comments


@pytest.mark.parametrize("status", [403, 404, 500])
def test_publish__list_refused(gh, publish, status):
    """When the comments cannot be read, nothing is posted blindly."""
    gh.fail("GET", POST, status)
    with pytest.raises(GitHubError):
        publish()
    assert not gh.writes()


@pytest.mark.parametrize("status", [403, 404, 410, 422])
def test_publish__post_refused(gh, publish, status):
    """A refusal to post is said, with its status, and not repeated."""
    gh.fail("POST", POST, status)
    with pytest.raises(GitHubError) as said:
        publish()
    assert said.value.status == status
    assert len(gh.calls("POST", POST)) == 1


@pytest.mark.parametrize("kind", ["locked", "read-only", "too long"])
def test_publish__not_allowed(gh, publish, pull, kind):
    """A locked conversation, a read-only token and a body beyond GitHub's limit are refusals, and nothing is there afterwards."""
    pull["locked"] = kind == "locked"
    gh.tokens[TOKEN] = Token(permissions=READ) if kind == "read-only" else Token()
    with pytest.raises(GitHubError):
        publish("x" * (70_000 if kind == "too long" else 1))
    assert not gh.comments


@pytest.mark.parametrize("first", [0, 1])
def test_race__two_runs_post_at_once(gh, client, publish, first):
    """Two runs that both find no comment end with one, whichever looks first afterwards: the older one, with the later report."""
    other = client()

    def meanwhile(_gh):
        publish("theirs", client=other)

    gh.lock = _NoLock()  # the other run asks while our request waits
    gh.before("POST" if first == 0 else "GET", POST, meanwhile, skip=first)
    shown, _ = publish("ours")
    assert _bodies(gh) == [f"{MARKER}\nours"]
    assert shown.id == min(gh.comments)


class _NoLock:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def test_race__duplicates_of_before(gh, publish):
    """Several comments of ours that are left from before become one, the oldest."""
    kept = gh.comment(12, f"{MARKER}\na", BOT)
    gh.comment(12, f"{MARKER}\nb", BOT)
    gh.comment(12, f"{MARKER}\nc", BOT)
    assert publish("new")[0].id == kept["id"]
    assert _bodies(gh) == [f"{MARKER}\nnew"]


def test_race__duplicate_cannot_be_removed(gh, publish):
    """A duplicate that cannot be removed does not cost the report, and is said."""
    gh.comment(12, f"{MARKER}\na", BOT)
    gh.comment(12, f"{MARKER}\nb", BOT)
    gh.fail("DELETE", "/comments/", 403)
    shown, sticky = publish("new")
    assert shown.body.endswith("new")
    assert "could not be removed" in sticky.reason


def test_after_post__list_fails(gh, publish):
    """A comment that was posted counts, even when nobody can look whether there are two."""
    gh.fail("GET", POST, 500, skip=1)
    shown, sticky = publish("one")
    assert shown.body.endswith("one")
    assert sticky.reason
    assert len(gh.comments) == 1


@pytest.mark.parametrize(("token", "author"), [(Token(), BOT), (Token(login="bob", is_user=True), "bob")])
def test_author__whoever_the_token_is(gh, publish, token, author):
    """A job's token and a person's each find their own comment, not the other's."""
    gh.comment(12, f"{MARKER}\nother", "bob" if author == BOT else BOT)
    gh.tokens[TOKEN] = token
    first, _ = publish("one")
    assert (first.author, publish("two")[0].id, len(gh.comments)) == (author, first.id, 2)


def test_author__an_app_learns_its_name(gh, publish):
    """An app that nobody named, not even GitHub, learns its name by posting, and its comments of before become one again."""
    gh.tokens[TOKEN] = Token(login="our-app[bot]", is_known=False)
    first, _ = publish("one")
    second, _ = publish("two")
    assert first.id == second.id
    assert _bodies(gh) == [f"{MARKER}\ntwo"]


def test_author__an_app_is_known_before_it_posts(gh, publish):
    """An app's comment is edited in place, without another post."""
    gh.tokens[TOKEN] = Token(login="our-app[bot]")
    first, _ = publish("one")
    gh.seen.clear()
    second, _ = publish("two")
    assert first.id == second.id
    assert [call.method for call in gh.writes() if "/comments" in call.path] == ["PATCH"]


def test_author__given(gh, publish):
    """An author that is given is not asked for, in any case of letters."""
    gh.tokens[TOKEN] = Token(login="our-app[bot]")
    for body in ("one", "two"):
        publish(body, author="Our-App[bot]")
    assert len(gh.calls("POST", POST)) == 1
    assert not gh.calls("GET", "^/user$")


def test_rate_limit__waited_for(gh, publish, slept):
    """A secondary limit on the post is waited for, and one comment is there."""
    gh.fail("POST", POST, 403, times=1, retry_after="3")
    publish()
    assert slept == [3]
    assert len(gh.comments) == 1
