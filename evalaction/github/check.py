"""The check run that a pull request shows: opened in progress before anything is measured, and always completed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from evalaction.errors import GitHubError
from evalaction.github.client import GitHub
from evalaction.github.facts import Annotation, CheckOutput, CheckRun, Conclusion

BATCH = 50
MOST_ANNOTATIONS = 1000
_TITLE = 255
_MESSAGE_BYTES = 60_000
_BARE_SUMMARY = 1000


class Check:
    """One check run. `id` is what a later step needs to `resume` it; `app` is the slug of the app that may edit it, where GitHub said so."""

    def __init__(self, github: GitHub, check_id: int, url: str = "", app: str | None = None) -> None:
        self._github = github
        self.id, self.url, self.app = check_id, url, app

    @classmethod
    def open(cls, github: GitHub, name: str, head_sha: str, key: str) -> Check:
        """A check run in progress on a commit. Where the answer to the post was lost, it is looked for before posting again. Raises GitHubError."""
        external_id = f"eval-gate:{key}"[:255]

        def post() -> CheckRun:
            return github.create_check(name, head_sha, external_id=external_id, title="Measuring", summary="The evaluation is running.")

        try:
            made = post()
        except GitHubError as error:
            if error.kind != "unavailable":
                raise
            there = [one for one in github.checks(head_sha, name) if one.external_id == external_id and one.status != "completed"]
            made = max(there, key=lambda one: one.id) if there else post()
        return cls(github, made.id, made.url, made.app)

    @classmethod
    def resume(cls, github: GitHub, check_id: int) -> Check:
        """The check run that an earlier step opened. Nothing is asked."""
        return cls(github, check_id)

    def complete(self, conclusion: Conclusion, output: CheckOutput) -> CheckRun:
        """Conclude, with all texts and the first annotations in one request and the other annotations after it, 50 at a time.

        Texts or annotations that GitHub refuses are left out rather than the conclusion: a check in progress would block the pull request for ever. Raises GitHubError.
        """
        first, *others = list(_batches(_bounded(output.annotations))) or [()]
        shown = dataclasses.replace(output, title=output.title[:_TITLE], annotations=first)
        done, whole = self._concluded(conclusion, shown)
        for batch in others if whole else ():
            done = self._github.update_check(self.id, conclusion=None, output=dataclasses.replace(shown, annotations=batch))
        self.url = done.url or self.url
        return done

    def _concluded(self, conclusion: Conclusion, shown: CheckOutput) -> tuple[CheckRun, bool]:
        """The check run, and whether everything was taken."""
        for smaller in (shown, dataclasses.replace(shown, annotations=())):
            try:
                return self._github.update_check(self.id, conclusion=conclusion, output=smaller), smaller is shown
            except GitHubError as error:
                if error.kind != "refused":
                    raise
        return self._github.update_check(self.id, conclusion=conclusion, output=CheckOutput(title=shown.title, summary=shown.summary[:_BARE_SUMMARY])), False


def _batches(annotations: Sequence[Annotation]) -> Iterator[tuple[Annotation, ...]]:
    for start in range(0, len(annotations), BATCH):
        yield tuple(annotations[start : start + BATCH])


def _bounded(annotations: Sequence[Annotation]) -> list[Annotation]:
    """The annotations that are shown, each as GitHub takes it; the last one says how many are not."""
    shown = [_fitting(one) for one in annotations[:MOST_ANNOTATIONS]]
    left = annotations[MOST_ANNOTATIONS:]
    if left:
        shown.append(dataclasses.replace(_fitting(left[0]), level="notice", title="More annotations", message=f"{len(left):,} more are not shown; the report has them all"))
    return shown


def _fitting(one: Annotation) -> Annotation:
    message = one.message.encode("utf-8", "replace")[:_MESSAGE_BYTES].decode("utf-8", "ignore")
    return dataclasses.replace(one, title=one.title[:_TITLE], message=message or one.title or "see the report", line=max(one.line, 1))
