"""What `calibrate` found, as text, Markdown or JSON; all rounding is done here."""

from __future__ import annotations

import abc
import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence

from evalaction.core.calibration import STORED_RUNS, Calibration, CaseNoise, Noise, SeriesNoise
from evalaction.core.excerpts import aligned
from evalaction.core.resampling import Simulated
from evalaction.core.spec_base import RAW
from evalaction.report.figures import number
from evalaction.report.said import count
from evalaction.report.text import cell, plain, span

MOST_CASES = 50
"""Cases in a table at most; JSON has them all."""
_NOISY_FIRST: tuple[Noise, ...] = ("flaky", "noisy", "deterministic")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """One suite: its noise, what its unchanged pull requests came to, and where its record lies."""

    noise: Calibration
    simulated: Simulated
    folder: str


def render_calibration(found: Sequence[Calibrated], form: str) -> str:
    """`form` is text, markdown or json."""
    if form == "json":
        return json.dumps({"schema_version": 1, "suites": [_plain(one) for one in found]}, indent=1, ensure_ascii=False, allow_nan=False)
    lay_out = _Markdown() if form == "markdown" else _Text()
    lines = [line for one in found for line in (*lay_out.suite(one), "")]
    return "\n".join(line for line, before in zip(lines, ["", *lines], strict=False) if line or before).rstrip("\n")


def _plain(one: Calibrated) -> dict[str, object]:
    noise, simulated = one.noise, one.simulated
    fields = dataclasses.asdict(noise)
    fields["series"] = [
        {**dataclasses.asdict(series), "standard_errors": [{"passes": passes, "standard_error": error} for passes, error in series.standard_errors]} for series in noise.series
    ]
    low, high = simulated.interval
    return {
        **fields,
        "counts": {word: sum(case.word == word for case in noise.cases) for word in _NOISY_FIRST},
        "simulated": {
            "pull_requests": simulated.pull_requests, "red": simulated.red, "false_alarm_rate": simulated.rate, "interval_95": [low, high],
            "calls_per_pull_request": simulated.calls_each, "calls_per_case": _per_case(one),
        },
        "record": one.folder,
    }  # fmt: skip


def _per_case(one: Calibrated) -> float:
    return one.simulated.calls_each / max(1, len(one.noise.cases))


class _Layout(abc.ABC):
    """What text and Markdown share: the order of things and their words; `word` makes a foreign word harmless, `cell` one in a table."""

    word: Callable[[str], str]
    cell: Callable[[str], str]

    def suite(self, one: Calibrated) -> Iterator[str]:
        """Everything about one suite."""
        noise = one.noise
        yield from self.heading(f"Calibration of {self.word(noise.suite)}")
        yield from self.lines(self._summary(one))
        series = [_series_row(self.cell, each) for each in noise.series]
        yield from self.table(("metric", "mean", "sd of one pass", "passes scatter", "tolerance for points"), series)
        for each in noise.series:
            yield from self.table((f"smallest drop of {self.cell(each.metric)} seen 4 in 5", *(count(stored, "stored run") for stored in STORED_RUNS)), _visible_rows(each))
        ordered = sorted(noise.cases, key=lambda case: (_NOISY_FIRST.index(case.word), -case.sd, case.case))
        yield from self.table(("case", "mean", "sd", "runs passed", "noise"), [_case_row(self.cell, case) for case in ordered[:MOST_CASES]])
        if len(ordered) > MOST_CASES:
            yield from self.lines([f"{len(ordered) - MOST_CASES:,} more cases with --format json"])
        yield from self.lines(self._advice(one))

    def _summary(self, one: Calibrated) -> Iterator[str]:
        noise, simulated = one.noise, one.simulated
        kinds = ", ".join(f"{noise.count(word)} {word}" for word in reversed(_NOISY_FIRST))
        yield f"{count(noise.runs, 'run')} of {count(len(noise.cases), 'case')}: {kinds}"
        if noise.errors:
            yield f"{count(noise.errors, 'case')} could not be measured; nothing is said of them"
        low, high = simulated.interval
        alarms = f"{simulated.red:,} of {simulated.pull_requests:,} red ({_percent(simulated.rate)}; 95 % interval {_percent(low)} to {_percent(high)})"
        yield f"Pull requests that change nothing, under the {noise.rule} rule with these runs as the baseline: {alarms}"
        yield f"Calls of one such pull request: {simulated.calls_each:,.1f}, that is {_per_case(one):.2f} a case"
        for each in noise.series:
            if each.moves_together:
                yield f"Whole passes of {self.word(each.metric)} scatter {number(each.overdispersion)} times as much as their cases explain: something moves all cases together"

    def _advice(self, one: Calibrated) -> Iterator[str]:
        if one.noise.rule == "statistical":
            yield "With these runs as the baseline noise is tested for, and the tolerance only says which drops matter; the tolerances above are for a comparison by points"
        yield f"The runs are an ordinary record: {self.word(f'eval-gate accept {one.folder} --reason TEXT')} makes them the baseline"

    @abc.abstractmethod
    def heading(self, text: str) -> Iterator[str]:
        """A heading."""

    @abc.abstractmethod
    def lines(self, lines: Iterator[str] | list[str]) -> Iterator[str]:
        """Sentences."""

    @abc.abstractmethod
    def table(self, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
        """A table; nothing when it has no row."""


class _Text(_Layout):
    word = staticmethod(plain)
    cell = staticmethod(plain)

    def heading(self, text: str) -> Iterator[str]:
        yield text

    def lines(self, lines: Iterator[str] | list[str]) -> Iterator[str]:
        yield from (f"- {line}" for line in lines)

    def table(self, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
        if rows:
            yield ""
            yield from aligned([header, *rows])
            yield ""


class _Markdown(_Layout):
    word = staticmethod(span)
    cell = staticmethod(cell)

    def heading(self, text: str) -> Iterator[str]:
        yield from (f"## {text}", "")

    def lines(self, lines: Iterator[str] | list[str]) -> Iterator[str]:
        yield from (f"- {line}" for line in lines)

    def table(self, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
        if rows:
            yield from ("", f"| {' | '.join(header)} |", f"|{'---|' * len(header)}")
            yield from (f"| {' | '.join(row)} |" for row in rows)
            yield ""


def _series_row(quote: Callable[[str], str], series: SeriesNoise) -> tuple[str, ...]:
    first = dict(series.standard_errors).get(1, series.standard_errors[0][1])
    scatter = "no variance" if series.overdispersion is None else f"{series.overdispersion:.2f} times"
    return quote(series.metric), number(series.mean), number(first), scatter, number(series.tolerance)


def _visible_rows(series: SeriesNoise) -> list[tuple[str, ...]]:
    passes = sorted({one.passes for one in series.visible})
    known = {(one.passes, one.stored): one.mde for one in series.visible}
    return [(f"{count(some, 'run')} of the suite", *(_drop(known[some, stored], series) for stored in STORED_RUNS)) for some in passes]


def _drop(mde: float, series: SeriesNoise) -> str:
    """A drop that is larger than the whole value is none that could be seen."""
    return "none, add cases" if series.metric not in RAW and mde > series.mean else number(mde)


def _case_row(quote: Callable[[str], str], case: CaseNoise) -> tuple[str, ...]:
    return quote(case.case), number(case.mean), number(case.sd), f"{round(case.pass_rate * case.runs)} of {case.runs}", case.word


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
