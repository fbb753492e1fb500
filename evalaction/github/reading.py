"""GitHub's JSON into frozen facts. An answer of another shape is none: `Malformed`, which the client turns into a GitHubError."""

from __future__ import annotations

from typing import Any

from evalaction.github.facts import Artifact, CheckRun, Comment, Position, PullRequest, Run


class Malformed(ValueError):
    """The answer is not what GitHub's description promises; the message names the field."""


class Fields:
    """One JSON object, read field by field with the type that each must have."""

    def __init__(self, found: Any) -> None:
        if not isinstance(found, dict):
            raise Malformed("an object was expected")
        self._found = found

    def number(self, name: str) -> int:
        """An integer that must be there."""
        found: int = self._there(name, self.number_or_none(name))
        return found

    def text(self, name: str) -> str:
        """A text that must be there."""
        found: str = self._there(name, self.text_or_none(name))
        return found

    def number_or_none(self, name: str) -> int | None:
        """An integer, or None where it is null or missing."""
        found = self._found.get(name)
        return None if found is None else self._of(name, found, int)

    def text_or_none(self, name: str) -> str | None:
        """A text, or None where it is null or missing."""
        found = self._found.get(name)
        return None if found is None else self._of(name, found, str)

    def flag(self, name: str) -> bool:
        """A boolean that must be there."""
        found = self._found.get(name)
        if not isinstance(found, bool):
            raise Malformed(f"`{name}` is no boolean")
        return found

    def part(self, name: str) -> Fields:
        """An object inside this one; empty where it is null or missing."""
        found = self._found.get(name)
        return Fields({} if found is None else found)

    def rows(self, name: str) -> list[Any]:
        """A list; empty where it is null or missing."""
        found = self._found.get(name)
        return [] if found is None else list(self._of(name, found, list))

    @staticmethod
    def _of(name: str, found: Any, kind: type[Any]) -> Any:
        if not isinstance(found, kind) or isinstance(found, bool):
            raise Malformed(f"`{name}` has another type")
        return found

    @staticmethod
    def _there(name: str, found: Any) -> Any:
        if found is None:
            raise Malformed(f"`{name}` is missing")
        return found


def artifact(found: Any) -> Artifact:
    """One artifact of a list."""
    own = Fields(found)
    run = own.part("workflow_run")
    return Artifact(
        id=own.number("id"), name=own.text("name"), size_in_bytes=own.number("size_in_bytes"), expired=own.flag("expired"), created_at=own.text_or_none("created_at") or "",
        expires_at=own.text_or_none("expires_at"), digest=own.text_or_none("digest"), run_id=run.number_or_none("id"), repository_id=run.number_or_none("repository_id"),
        head_repository_id=run.number_or_none("head_repository_id"), head_branch=run.text_or_none("head_branch"), head_sha=run.text_or_none("head_sha"),
    )  # fmt: skip


def run(found: Any) -> Run:
    """One workflow run."""
    own = Fields(found)
    head, branch, sha = own.part("head_repository"), own.text_or_none("head_branch"), own.text("head_sha")
    return Run(
        id=own.number("id"), event=own.text("event"), path=_without_ref(own.text("path"), branch, sha), head_branch=branch, head_sha=sha, status=own.text_or_none("status") or "",
        conclusion=own.text_or_none("conclusion"), attempt=own.number_or_none("run_attempt") or 1, created_at=own.text("created_at"),
        repository_id=own.part("repository").number_or_none("id"), head_repository_id=head.number_or_none("id"), head_repository=head.text_or_none("full_name"),
        head_owner=head.part("owner").text_or_none("login"), actor=own.part("actor").text_or_none("login"), url=own.text_or_none("html_url") or "",
        pull_requests=tuple(Fields(each).number("number") for each in own.rows("pull_requests")),
    )  # fmt: skip


def _without_ref(path: str, branch: str | None, sha: str) -> str:
    """A workflow's path without `@ref`. Only a real ref is taken off: a file may be called `accept.yml@other.yml`."""
    stem, mark, ref = path.partition("@refs/")
    if mark and ref:
        return stem
    for known in (branch, sha):
        if known and path.endswith(f"@{known}"):
            return path.removesuffix(f"@{known}")
    return path


def pull_request(found: Any) -> PullRequest:
    """One pull request, from the list or by its number."""
    own = Fields(found)
    head, base = own.part("head"), own.part("base")
    return PullRequest(
        number=own.number("number"), head_sha=head.text("sha"), head_ref=head.text("ref"), base_ref=base.text("ref"), base_sha=base.text("sha"),
        head_repository_id=head.part("repo").number_or_none("id"), base_repository_id=base.part("repo").number("id"), author=own.part("user").text_or_none("login"),
        state=own.text("state"),
    )  # fmt: skip


def comment(found: Any) -> Comment:
    """One comment; no author where the account is gone."""
    own = Fields(found)
    user = own.part("user")
    return Comment(
        id=own.number("id"), body=own.text_or_none("body") or "", author=user.text_or_none("login") or "", author_is_bot=user.text_or_none("type") == "Bot",
        url=own.text("html_url"),
    )  # fmt: skip


def app_login(found: Any) -> str:
    """An app as the author of comments, `name[bot]`, from GraphQL's `viewer`."""
    name = Fields(found).part("data").part("viewer").text("login")
    return name if name.endswith("[bot]") else f"{name}[bot]"


def check_run(found: Any) -> CheckRun:
    """One check run."""
    own = Fields(found)
    return CheckRun(
        id=own.number("id"), name=own.text("name"), status=own.text("status"), url=own.text_or_none("html_url") or "", app=own.part("app").text_or_none("slug"),
        external_id=own.text_or_none("external_id"), annotations=own.part("output").number_or_none("annotations_count") or 0,
    )  # fmt: skip


def position(found: Any) -> Position:
    """Where a commit stands, from a comparison `branch...commit`."""
    own = Fields(found)
    status = own.text("status")
    if status not in ("ahead", "behind", "diverged", "identical"):
        raise Malformed("`status` is no word of a comparison")
    return Position(status=status, behind_by=own.number("behind_by"))  # type: ignore[arg-type]  # the words were compared just above
