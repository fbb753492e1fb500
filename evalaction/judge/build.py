"""From a suite's `judge:` block to the judge that is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalaction.core.cassette import Tape
from evalaction.core.checks.rubric import rubrics_of
from evalaction.core.suite import Suite
from evalaction.errors import ConfigError
from evalaction.judge.judge import RubricJudge
from evalaction.judge.memory import NoProvider, TapedMemory
from evalaction.providers.base import Endpoint
from evalaction.providers.build import address_of, open_provider


def build_judge(suite: Suite, *, environment: Mapping[str, str], cwd: Path, tape: Tape | None = None) -> RubricJudge | None:
    """The judge of a suite, None when no case of it has a rubric: then nobody needs a key, nor where all verdicts come from the tape.

    Raises ConfigError: MISSING_FIELD when rubrics have no judge, and what `open_provider` raises.
    """
    judged = next((case for case in suite.cases if rubrics_of(case)), None)
    if judged is None:
        return None
    spec = suite.judge
    if spec is None:
        what = f"case {judged.id} has a rubric, and no judge is named"
        raise ConfigError.one("MISSING_FIELD", what, "add judge: {provider: …, model: …} to the suite, or --judge PROVIDER:MODEL", file=suite.file, path="judge")
    endpoint = Endpoint(provider=spec.provider, model=spec.model, base_url=spec.base_url)
    tape = tape or Tape()
    provider = open_provider(endpoint, environment=environment, cwd=cwd) if tape.asks else NoProvider()
    return RubricJudge(spec, provider, memory=TapedMemory(tape, spec, address_of(spec.provider, spec.base_url, environment)))
