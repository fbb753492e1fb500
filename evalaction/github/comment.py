"""The one comment of a pull request that is ours: found by hidden marker and author, edited in place, and still one when two runs post at once."""

from __future__ import annotations

from evalaction.errors import GitHubError
from evalaction.github.client import GitHub
from evalaction.github.facts import Comment, PullRequest

INSTALLATION = "github-actions[bot]"
"""Who comments with the token that every job has."""


class StickyComment:
    """The comment with this marker by this author. Without an author, it is whoever the token belongs to; what a post answers corrects that.

    `reason` says, after a `publish`, why there is no comment, or what is left to clean up.
    """

    def __init__(self, github: GitHub, marker: str, author: str | None) -> None:
        self._github, self._marker, self._author = github, marker, author
        self.reason = ""

    def publish(self, pull: PullRequest, head_sha: str, body: str) -> Comment | None:
        """Show `body` on a pull request, unless its head is no longer `head_sha`; None then.

        Raises GitHubError when it could not be shown. Nothing is posted unless the list of comments was read before.
        """
        self.reason = ""
        text = body if self._is_marked(body) else f"{self._marker}\n{body}"
        mine = self._mine(pull.number)
        live = self._github.pull(pull.number).head_sha  # just before writing, for reading many pages takes its time
        if live != head_sha:
            self.reason = f"the report is stale: pull request {pull.number} has a newer head, {live[:10]}, and this run measured {head_sha[:10]}"
            return None
        if mine:
            try:
                return self._settled(mine, text)
            except GitHubError as error:
                if error.kind != "missing":
                    raise
                mine = self._mine(pull.number)  # it was deleted while we wrote
        return self._settled(mine, text) if mine else self._posted(pull.number, text)

    def _posted(self, number: int, text: str) -> Comment:
        """Post once; an answer that was lost is looked for before posting again. Of several that are then ours the oldest stays."""
        try:
            made = self._github.create_comment(number, text)
        except GitHubError as error:
            if error.kind != "unavailable":
                raise
            mine = self._mine(number)
            if mine:
                return self._settled(mine, text)
            made = self._github.create_comment(number, text)
        self._author = made.author or self._author
        try:
            return self._settled(self._mine(number) or [made], text)
        except GitHubError as error:
            self.reason = f"the comment is there, and whether another run posted one too could not be seen: {error}"
            return made

    def _settled(self, mine: list[Comment], text: str) -> Comment:
        """The oldest of ours with this text; the others go."""
        kept, *others = mine
        if kept.body.replace("\r\n", "\n").rstrip() != text.rstrip():
            kept = self._github.edit_comment(kept.id, text)
        for other in others:
            try:
                self._github.delete_comment(other.id)
            except GitHubError as error:
                self.reason = f"an older comment of ours could not be removed: {error}"
        return kept

    def _mine(self, number: int) -> list[Comment]:
        """Ours, oldest first. Who we are is asked only where a comment could be ours."""
        marked = [one for one in self._github.comments(number) if self._is_marked(one.body)]
        author = self._name().lower() if marked else ""
        return sorted((one for one in marked if one.author.lower() == author), key=lambda one: one.id)

    def _is_marked(self, body: str) -> bool:
        return body.split("\n", 1)[0].strip() == self._marker

    def _name(self) -> str:
        if self._author is None:
            self._author = self._github.login() or INSTALLATION
        return self._author
