"""Where a verdict is shown: job summary, comment, check run. Each fails on its own; none of them can change or lose the verdict."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from evalaction.app.on_github.conclusions import conclusion, is_cancelled
from evalaction.app.on_github.open_check import OpenCheck, check_name, external_id, forget, is_of_another_workflow, remember
from evalaction.app.on_github.remarks import remarks_on
from evalaction.app.signals import deaf, held
from evalaction.core.verdict import Verdict
from evalaction.errors import GitHubError
from evalaction.github.facts import Annotation, CheckOutput, PullRequest, Run
from evalaction.github.limits import CHECK_LIMIT, COMMENT_LIMIT, SUMMARY_LIMIT
from evalaction.report.details import Details
from evalaction.report.headline import overall_sentence
from evalaction.report.markdown import marker_comment, render_markdown
from evalaction.report.said import Said, join, ours, say
from evalaction.report.text import plain
from evalaction.report.view import build_view
from evalaction.settings import with_secrets

if TYPE_CHECKING:
    from evalaction.app.on_github.desk import Desk
    from evalaction.github.check import Check
    from evalaction.github.client import GitHub

_PERMISSIONS = {"comment": "pull-requests: write", "check run": "checks: write"}
_REPOSITORY = re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}", re.ASCII)
_SECONDS = 90.0
"""How long one surface may take: GitHub's troubles with a comment leave time for the check run."""
T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where on GitHub: the commit that a check belongs on, and the pull request with its comment."""

    head_sha: str | None = None
    pull: PullRequest | None = None
    run: Run | None = None
    """The finished run that a second stage reports on."""


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """Why a surface shows nothing. `kind` is that of a GitHubError, empty for anything else."""

    message: str
    kind: str = ""

    @property
    def is_locked(self) -> bool:
        """Whether nobody may write there, whatever the token may do."""
        return self.kind == "permission" and "is locked" in self.message


class Surfaces:
    """Opened before anything is measured; called with the verdict."""

    def __init__(self, desk: Desk, place: Place, *, publish: bool = True) -> None:
        self._desk, self.place = desk, place
        self._wants_check = publish and desk.inputs.check and place.head_sha is not None
        self._wants_comment = publish and desk.inputs.comment and place.pull is not None
        self._check: Check | None = None
        self._note: OpenCheck | None = None
        self._failed: dict[str, Failure] = {}
        self._summed = False
        self.comment_url = self.check_url = ""

    def open(self) -> None:
        """Open the check run, in progress."""
        if not self._wants_check or self._desk.github is None or self.place.head_sha is None:
            return
        from evalaction.github.check import Check  # noqa: PLC0415 - the client is loaded only when it is asked

        desk, github, sha = self._desk, self._desk.github, self.place.head_sha
        note = self._note = OpenCheck(name=check_name(desk), head_sha=sha, external_id=external_id(desk))
        with held():  # a signal between the post and the note would leave a check run that nobody knows of
            self._attempt("check run", lambda: remember(desk, note))
            self._check = self._attempt("check run", lambda: Check.open(github, note.name, sha, note.external_id))
            self._noted()
        self._tell_apart(github)

    def _noted(self) -> None:
        """The number of the check run; nothing where there certainly is none. After an outage there may be one, and it is looked for at the end."""
        check, note = self._check, self._note
        if check is not None and note is not None:
            self.check_url = check.url
            self._attempt("check run", lambda: remember(self._desk, dataclasses.replace(note, check_id=check.id)))
        elif self._failed["check run"].kind in ("permission", "missing", "refused"):
            self._note = None
            forget(self._desk)

    def _tell_apart(self, github: GitHub) -> None:
        """GitHub shows the latest check run of a name only: where another workflow has one of ours, the later green one would hide the other's red."""
        desk, check, note = self._desk, self._check, self._note
        if check is None or note is None or desk.inputs.check_name or desk.inputs.explicit_key or desk.event.workflow is None:
            return
        try:
            if not any(one.id < check.id and is_of_another_workflow(desk, one.external_id) for one in github.checks(note.head_sha, note.name)):
                return
            name = check_name(desk, beside_others=True)
            check.rename(name)
        except GitHubError as error:
            desk.say(f"whether another workflow has a check run of the name {note.name} could not be seen: {error}")
            return
        desk.warn("eval-gate", plain(f"another workflow has the check run {note.name} on this commit, so this one is called {name}. Give each a key of its own."))

    def __call__(self, verdict: Verdict, details: Mapping[str, Details]) -> None:
        """Show the verdict everywhere; see `Sink`."""
        if is_cancelled(verdict):
            deaf()
        elsewhere = self._elsewhere(verdict)
        if elsewhere:
            self._desk.warn("eval-gate measured another commit", f"{elsewhere} was measured, not {self.place.head_sha}: the check there concludes as action_required")
        self._attempt("job summary", lambda: self._add_summary(verdict, details))
        self._attempt("comment", lambda: self._comment(verdict, details))
        self._attempt("check run", lambda: self._complete(verdict, details))
        self._say_failures()

    def _add_summary(self, verdict: Verdict, details: Mapping[str, Details]) -> None:
        self._summed = self._desk.runner.add_summary(self._markdown(verdict, details, SUMMARY_LIMIT))

    def _comment(self, verdict: Verdict, details: Mapping[str, Details]) -> None:
        pull, github, head = self.place.pull, self._desk.github, self.place.head_sha
        if not self._wants_comment or github is None or pull is None or head is None:
            return
        from evalaction.github.comment import StickyComment  # noqa: PLC0415 - the client is loaded only when it is asked

        author = f"{self._check.app}[bot]" if self._check is not None and self._check.app else None
        marker = comment_key(self._desk)
        body = self._markdown(verdict, details, COMMENT_LIMIT, marker=marker)
        sticky = StickyComment(github, marker_comment(marker), author)
        with github.within(_SECONDS):
            published = sticky.publish(pull, head, body)
        self.comment_url = published.url if published else ""
        self._failed.pop("comment", None)
        if sticky.reason:
            self._desk.say(f"comment: {sticky.reason}")

    def _complete(self, verdict: Verdict, details: Mapping[str, Details]) -> None:
        desk, github, note = self._desk, self._desk.github, self._note
        if github is None or note is None:
            return
        text, remarks = self._markdown(verdict, details, CHECK_LIMIT), tuple(self.remarks(verdict, details))
        output = CheckOutput(title=self._title(verdict), summary=self._summary(verdict), text=text, annotations=remarks)
        word = conclusion(verdict, desk.inputs.no_baseline, elsewhere=self._elsewhere(verdict) is not None)
        with github.within(_SECONDS):
            check = self._check or self._found_again(github, note)
            if check is None:
                return
            self._attempt("check run", lambda: remember(desk, note.decided(check.id, word, output)))
            self.check_url = check.complete(word, output).url or self.check_url
        forget(desk)
        self._failed.pop("check run", None)

    def _found_again(self, github: GitHub, note: OpenCheck) -> Check | None:
        """The check run whose opening was lost in an outage; None when it did not take effect."""
        from evalaction.github.check import Check  # noqa: PLC0415 - the client is loaded only when it is asked

        self._check = Check.find(github, note.name, note.head_sha, note.external_id)
        if self._check is None:
            forget(self._desk)
        return self._check

    def _elsewhere(self, verdict: Verdict) -> str | None:
        """The commit that was measured in the place of the one that the check is on; None where it is that one.

        Only events that run the default branch's code because of another commit can come to that, and a second stage proves its commit otherwise.
        """
        settings, head = self._desk.parts.settings, self.place.head_sha
        if not with_secrets(settings.event) or self.place.run is not None or head is None:
            return None
        return next((commit or "unknown" for commit in (settings.commit, *(suite.commit for suite in verdict.suites if suite.commit)) if commit != head), None)

    def _not_this(self, elsewhere: str) -> Said:
        sentence = "**Not this change**: what was measured is commit {}, the code that {} runs, and not {}. Nothing here speaks of the change."
        return say(sentence, elsewhere[:12], self._desk.event.name, (self.place.head_sha or "")[:12])

    def _title(self, verdict: Verdict) -> str:
        elsewhere, title = self._elsewhere(verdict), headline(verdict, self._desk)
        return plain(f"this commit was not measured; of {elsewhere[:12]}: {title}", 250) if elsewhere else title

    def remarks(self, verdict: Verdict, details: Mapping[str, Details] | None = None) -> list[Annotation]:
        """Remarks on lines of the repository's files, secrets masked."""
        settings = self._desk.parts.settings
        root, masked = Path(settings.environment.get("GITHUB_WORKSPACE") or settings.workspace), settings.masker.text
        found = remarks_on(verdict, details or {}, settings.cwd, root)
        return [dataclasses.replace(one, message=masked(one.message), title=masked(one.title)) for one in found]

    def _summary(self, verdict: Verdict) -> str:
        url = self._desk.event.run_url
        where = f" The whole report is in the [run's summary]({url})." if url and self._summed else ""
        return f"Verdict `{verdict.verdict}`, exit code {verdict.exit_code}.{where}"

    def _markdown(self, verdict: Verdict, details: Mapping[str, Details], limit: int, *, marker: str | None = None) -> str:
        view, elsewhere = build_view(verdict, details, limit=limit, footer=self._footer(verdict)), self._elsewhere(verdict)
        if elsewhere:
            view = dataclasses.replace(view, notes=(self._not_this(elsewhere), *view.notes))
        return self._desk.parts.settings.masker.text(render_markdown(view, marker=marker))

    def _footer(self, verdict: Verdict) -> tuple[Said, ...]:
        event, sha = self._desk.event, self._elsewhere(verdict) or self.place.head_sha
        parts = say("Commit {}", sha[:12]) if sha else ours("")
        link = ours(f"[run {event.run_id}, attempt {event.attempt}]({event.run_url})") if event.run_url else ours("")
        words = ours(f"[what the words mean]({url})" if (url := _words_url(self._desk)) else "")
        line = join(part for part in (parts, link, words) if part)
        return (line,) if line else ()

    def _attempt(self, surface: str, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except GitHubError as error:
            self._failed[surface] = Failure(str(error), error.kind)
        except Exception as error:  # noqa: BLE001 - a surface that fails, for whatever reason, must not cost the verdict or the other surfaces
            self._failed[surface] = Failure(f"{type(error).__name__}: {error}")
        return None

    @property
    def unpublished(self) -> Failure | None:
        """Why neither check run nor comment, of those wanted, shows the verdict; None when one does or none is wanted. A missing permission counts first."""
        wanted = [name for name, is_wanted in (("check run", self._wants_check), ("comment", self._wants_comment)) if is_wanted]
        failures = [self._failed[name] for name in wanted if name in self._failed]
        if not wanted or len(failures) < len(wanted):
            return None
        return min(failures, key=lambda one: one.kind != "permission" or one.is_locked)

    def _say_failures(self) -> None:
        if not self._failed:
            return
        told = "; ".join(f"{surface}: {failure.message}" for surface, failure in self._failed.items())
        lines = [f"`{_PERMISSIONS[surface]}`" for surface, failure in self._failed.items() if surface in _PERMISSIONS and not failure.is_locked]
        remedy = f" If the token may not write, add {' and '.join(lines)} to the job's permissions; pull requests from forks need the second workflow." if lines else ""
        if any(failure.is_locked for failure in self._failed.values()):
            remedy += " Nobody can comment on a locked conversation: unlock it, or set comment: false."
        rest = " The job summary has everything." if self._summed else ""
        self._desk.warn("eval-gate could not publish", plain(f"{told}. The verdict stands.{remedy}{rest}", 2000))


def comment_key(desk: Desk) -> str:
    """What the comment's marker names: the key, and where nobody chose one also the workflow's file, since another workflow may have a job of the same id."""
    inputs, workflow = desk.inputs, desk.event.workflow
    return inputs.key if inputs.explicit_key or workflow is None else f"{inputs.key}:{workflow}"


def _words_url(desk: Desk) -> str:
    """The page of the Action's own repository and version that explains the verdicts' words; empty where the Action is used from a folder."""
    environment, server = desk.parts.settings.environment, desk.event.server_url
    repository, ref = (environment.get(f"EVAL_GATE_ACTION_{name}", "") for name in ("REPOSITORY", "REF"))
    return f"{server}/{quote(repository)}/blob/{quote(ref)}/docs/words.md" if server and _REPOSITORY.fullmatch(repository) and ref else ""


def headline(verdict: Verdict, desk: Desk) -> str:
    """The verdict in one line of plain text, as a check run's title."""
    return plain(desk.parts.settings.masker.text(overall_sentence(verdict).render(str)), 250)
