"""Where a verdict is shown: job summary, comment, check run. Each fails on its own; none of them can change or lose the verdict."""

from __future__ import annotations

import dataclasses
import json
import signal
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from evalaction.app.on_github.conclusions import conclusion, is_cancelled
from evalaction.app.on_github.remarks import remarks_on
from evalaction.core.verdict import Verdict
from evalaction.errors import GitHubError
from evalaction.github.facts import Annotation, CheckOutput, Conclusion, PullRequest, Run
from evalaction.github.limits import CHECK_LIMIT, COMMENT_LIMIT, SUMMARY_LIMIT
from evalaction.github.names import results_name
from evalaction.report.details import Details
from evalaction.report.headline import overall_sentence
from evalaction.report.markdown import marker_comment, render_markdown
from evalaction.report.said import Said, ours, say
from evalaction.report.text import plain
from evalaction.report.view import build_view
from evalaction.settings import with_secrets
from evalaction.store.files import write_atomic

if TYPE_CHECKING:
    from evalaction.app.on_github.desk import Desk
    from evalaction.github.check import Check

_PERMISSIONS = {"comment": "pull-requests: write", "check run": "checks: write"}
T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where on GitHub: the commit that a check belongs on, and the pull request with its comment."""

    head_sha: str | None = None
    pull: PullRequest | None = None
    run: Run | None = None
    """The finished run that a second stage reports on."""


class Surfaces:
    """Opened before anything is measured; called with the verdict."""

    def __init__(self, desk: Desk, place: Place, *, publish: bool = True) -> None:
        self._desk, self.place = desk, place
        self._wants_check = publish and desk.inputs.check and place.head_sha is not None
        self._wants_comment = publish and desk.inputs.comment and place.pull is not None
        self._check: Check | None = None
        self._failed: dict[str, str] = {}
        self._summed = False
        self.comment_url = self.check_url = ""

    def open(self) -> None:
        """Open the check run, in progress."""
        if not self._wants_check or self._desk.github is None or self.place.head_sha is None:
            return
        from evalaction.github.check import Check  # noqa: PLC0415 - the client is loaded only when it is asked

        github, sha = self._desk.github, self.place.head_sha
        self._check = self._attempt("check run", lambda: Check.open(github, self._name(), sha, self._desk.inputs.key))
        if self._check is not None:
            self.check_url = self._check.url
            self._attempt("check run", lambda: write_atomic(state_file(self._desk), json.dumps({"check_id": self._check.id if self._check else None}).encode()))

    def __call__(self, verdict: Verdict, details: Mapping[str, Details]) -> None:
        """Show the verdict everywhere; see `Sink`."""
        if is_cancelled(verdict):
            _deaf()
        elsewhere = self._elsewhere(verdict)
        if elsewhere:
            self._desk.warn("eval-gate measured another commit", f"{elsewhere} was measured, not {self.place.head_sha}: the check there concludes as action_required")
        self._attempt("job summary", lambda: self._add_summary(verdict, details))
        self._attempt("comment", lambda: self._comment(verdict, details))
        self._attempt("check run", lambda: self._complete(verdict, details))
        self._say_failures()

    def _name(self) -> str:
        inputs = self._desk.inputs
        return plain(inputs.check_name or f"eval-gate ({inputs.key})", 200)

    def _add_summary(self, verdict: Verdict, details: Mapping[str, Details]) -> None:
        self._summed = self._desk.runner.add_summary(self._markdown(verdict, details, SUMMARY_LIMIT))

    def _comment(self, verdict: Verdict, details: Mapping[str, Details]) -> None:
        pull, github, head = self.place.pull, self._desk.github, self.place.head_sha
        if not self._wants_comment or github is None or pull is None or head is None:
            return
        from evalaction.github.comment import StickyComment  # noqa: PLC0415 - the client is loaded only when it is asked

        author = f"{self._check.app}[bot]" if self._check is not None and self._check.app else None
        key = self._desk.inputs.key
        body = self._markdown(verdict, details, COMMENT_LIMIT, marker=key)
        sticky = StickyComment(github, marker_comment(key), author)
        published = sticky.publish(pull, head, body)
        self.comment_url = published.url if published else ""
        if sticky.reason:
            self._desk.say(f"comment: {sticky.reason}")

    def _complete(self, verdict: Verdict, details: Mapping[str, Details]) -> None:
        if self._check is None:
            return
        desk = self._desk
        text, remarks = self._markdown(verdict, details, CHECK_LIMIT), tuple(self.remarks(verdict, details))
        output = CheckOutput(title=self._title(verdict), summary=self._summary(verdict), text=text, annotations=remarks)
        self.check_url = self._check.complete(conclusion(verdict, desk.inputs.no_baseline, elsewhere=self._elsewhere(verdict) is not None), output).url or self.check_url
        state_file(desk).unlink(missing_ok=True)

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
        return (say("{}, {}", parts, link),) if parts and link else tuple(part for part in (parts, link) if part)

    def _attempt(self, surface: str, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except GitHubError as error:
            self._failed[surface] = str(error)
        except Exception as error:  # noqa: BLE001 - a surface that fails, for whatever reason, must not cost the verdict or the other surfaces
            self._failed[surface] = f"{type(error).__name__}: {error}"
        return None

    def _say_failures(self) -> None:
        if not self._failed:
            return
        told = "; ".join(f"{surface}: {reason}" for surface, reason in self._failed.items())
        lines = [f"`{_PERMISSIONS[surface]}`" for surface in self._failed if surface in _PERMISSIONS]
        remedy = f" If the token may not write, add {' and '.join(lines)} to the job's permissions; pull requests from forks need the second workflow." if lines else ""
        rest = " The job summary has everything." if self._summed else ""
        self._desk.warn("eval-gate could not publish", plain(f"{told}. The verdict stands.{remedy}{rest}", 2000))


def headline(verdict: Verdict, desk: Desk) -> str:
    """The verdict in one line of plain text, as a check run's title."""
    return plain(desk.parts.settings.masker.text(overall_sentence(verdict).render(str)), 250)


def state_file(desk: Desk) -> Path:
    """Where the open check run is remembered for the step that runs after a kill."""
    return desk.folder.parent / f"{results_name(desk.inputs.key, desk.event.attempt)}.check.json"


def finish(desk: Desk) -> int:
    """After a run that was killed: complete the check run that it left open, so that it blocks nobody for ever."""
    state = state_file(desk)
    if desk.github is None or not state.is_file():
        return 0
    from evalaction.github.check import Check  # noqa: PLC0415 - the client is loaded only when it is asked

    cancelled = desk.parts.settings.environment.get("EVAL_GATE_JOB_STATUS") == "cancelled"
    word: Conclusion = "cancelled" if cancelled else "failure"
    what = "The run was cancelled before it came to a verdict." if cancelled else "The run was ended before it came to a verdict: out of memory, or killed."
    try:
        number = int(json.loads(state.read_bytes())["check_id"])
        Check.resume(desk.github, number).complete(word, CheckOutput(title="not_measured: the run did not finish", summary=what))
        state.unlink(missing_ok=True)
    except (GitHubError, ValueError, KeyError, TypeError, OSError) as error:
        desk.warn("eval-gate could not close its check run", plain(f"{type(error).__name__}: {error}"))
    return 0


def _deaf() -> None:
    """After the first signal the runner sends more; what is left to do is short, and must be done."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
