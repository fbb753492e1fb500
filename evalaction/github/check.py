"""The check run that a pull request shows: opened in progress before anything is measured, and always completed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from evalaction.errors import GitHubError
from evalaction.github.client import GitHub
from evalaction.github.facts import Annotation, CheckOutput, CheckRun, Conclusion

BATCH = 50
MOST_ANNOTATIONS = 1000
_TITLE = 255
_MESSAGE_BYTES = 60_000
_BARE_SUMMARY = 1000
_FAILURES = 2
"""Outages while annotations are sent, before the rest of them is given up."""


class Check:
    """One check run. `id` is what a later step needs to `resume` it; `app` is the slug of the app that may edit it, where GitHub said so."""

    def __init__(self, github: GitHub, check_id: int, url: str = "", app: str | None = None) -> None:
        self._github = github
        self.id, self.url, self.app = check_id, url, app

    @classmethod
    def open(cls, github: GitHub, name: str, head_sha: str, external_id: str) -> Check:
        """A check run in progress on a commit. Where the answer to the post was lost, it is looked for before posting again. Raises GitHubError.

        After `unavailable` there may be one all the same, which `find` finds by its external id of at most 255 characters.
        """

        def post() -> CheckRun:
            return github.create_check(name, head_sha, external_id=external_id, title="Measuring", summary="The evaluation is running.")

        try:
            made = post()
        except GitHubError as error:
            if error.kind != "unavailable":
                raise
            found = cls.find(github, name, head_sha, external_id)
            if found is not None:
                return found
            made = post()
        return cls(github, made.id, made.url, made.app)

    @classmethod
    def find(cls, github: GitHub, name: str, head_sha: str, external_id: str) -> Check | None:
        """The newest check run of this name and external id that is not completed. Raises GitHubError."""
        there = [one for one in github.checks(head_sha, name) if one.external_id == external_id and one.status != "completed"]
        newest = max(there, key=lambda one: one.id, default=None)
        return cls(github, newest.id, newest.url, newest.app) if newest is not None else None

    def rename(self, name: str) -> None:
        """Show it under another name. Raises GitHubError."""
        self._github.rename_check(self.id, name)

    @classmethod
    def resume(cls, github: GitHub, check_id: int) -> Check:
        """The check run that an earlier step opened. Nothing is asked."""
        return cls(github, check_id)

    def complete(self, conclusion: Conclusion, output: CheckOutput) -> CheckRun:
        """Conclude, with all texts and the first annotations in one request and the other annotations after it, 50 at a time.

        Texts or annotations that GitHub refuses are left out rather than the conclusion: a check in progress would block the pull request for ever. Annotations
        are added each time, so that after an answer that was lost GitHub is asked how many it has. Raises GitHubError.
        """
        annotations = _bounded(output.annotations)
        shown = dataclasses.replace(output, title=output.title[:_TITLE], annotations=tuple(annotations[:BATCH]))
        done, there = self._concluded(conclusion, shown)
        failures = 0
        while there is not None and there < len(annotations):
            batch = dataclasses.replace(shown, annotations=tuple(annotations[there : there + BATCH]))
            try:
                done, there = self._github.update_check(self.id, conclusion=None, output=batch), there + len(batch.annotations)
            except GitHubError as error:
                failures += 1
                if error.kind != "unavailable" or failures > _FAILURES:
                    raise
                done, there = self._counted(None, shown)
        self.url = done.url or self.url
        return done

    def _concluded(self, conclusion: Conclusion, shown: CheckOutput) -> tuple[CheckRun, int | None]:
        """The check run, and how many annotations it has; None where no more are to be sent, for they or the texts were refused."""
        try:
            return self._github.update_check(self.id, conclusion=conclusion, output=shown), len(shown.annotations)
        except GitHubError as error:
            if error.kind == "unavailable" and shown.annotations:
                return self._counted(conclusion, shown)
            if error.kind != "refused":
                raise
        try:
            return self._github.update_check(self.id, conclusion=conclusion, output=dataclasses.replace(shown, annotations=())), None
        except GitHubError as error:
            if error.kind != "refused":
                raise
        return self._github.update_check(self.id, conclusion=conclusion, output=CheckOutput(title=shown.title, summary=shown.summary[:_BARE_SUMMARY])), None

    def _counted(self, conclusion: Conclusion | None, shown: CheckOutput) -> tuple[CheckRun, int]:
        """The texts again, which may be said twice, and with the answer the number of annotations that arrived though theirs was lost."""
        done = self._github.update_check(self.id, conclusion=conclusion, output=dataclasses.replace(shown, annotations=()))
        return done, done.annotations


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
