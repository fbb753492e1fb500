"""From a suite's `judge:` block to the judge that is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalaction.core.checks.rubric import rubrics_of
from evalaction.core.suite import Suite
from evalaction.errors import ConfigError
from evalaction.judge.judge import RubricJudge
from evalaction.providers.base import Endpoint
from evalaction.providers.build import open_provider


def build_judge(suite: Suite, *, environment: Mapping[str, str], cwd: Path) -> RubricJudge | None:
    """The judge of a suite, None when no case of it has a rubric: then nobody needs a key.

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
    return RubricJudge(spec, open_provider(endpoint, environment=environment, cwd=cwd))
