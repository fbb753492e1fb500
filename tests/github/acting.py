"""Whole runs of the Action against the fake GitHub: a workspace with suites, the environment of a step, and what the runner reads afterwards."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from evalaction.action import execute
from tests.github.events import Event, environment
from tests.github.fake import ACCEPT, EVAL, TOKEN, FakeGitHub, Repository

NEEDS_A_SECRET: dict[str, Any] = {"target": {"http": {"url": "http://127.0.0.1:9/", "headers": {"X": "{{ env.KEY_OF_MODEL }}"}, "extract": {"output": "a"}}}}
"""What makes a suite need a variable that outsiders do not have."""


@dataclasses.dataclass(frozen=True)
class Ended:
    """One run: its exit code, outputs, log, summary, and verdict.json where there is one."""

    code: int
    outputs: dict[str, str]
    log: str
    summary: str
    verdict: dict[str, Any] | None
    run: dict[str, Any]

    @property
    def word(self) -> str:
        """The verdict."""
        return self.outputs["verdict"]

    @property
    def suite(self) -> dict[str, Any]:
        """The first suite of verdict.json."""
        assert self.verdict is not None
        return self.verdict["suites"][0]  # type: ignore[no-any-return]  # JSON that we wrote


def read_outputs(text: str) -> dict[str, str]:
    """A GITHUB_OUTPUT file as the runner reads it; every name once."""
    found = re.findall(r"([^\n<]+)<<(ghadelimiter_[0-9a-f-]+)\n(.*?)\n?\2\n", text, re.DOTALL)
    names = [name for name, _, _ in found]
    assert len(set(names)) == len(names), names
    return {name: value for name, _, value in found}


class Acting:
    """One workspace beside one fake GitHub. `said` gives what was printed since it was last asked."""

    def __init__(self, gh: FakeGitHub, folder: Path, said: Callable[[], str]) -> None:
        self.gh, self.folder, self.said = gh, folder, said
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.steps = 0
        self.given: dict[str, str] = {}

    def suite(self, name: str = "support", *, cases: int = 4, bad: Iterable[int] = (), named: str = "case", **top: Any) -> Path:
        """A suite of questions with a file of answers; those of the cases in `bad` are wrong."""
        folder = self.workspace / "evals"
        folder.mkdir(exist_ok=True)
        asked = [{"id": f"{named}-{n}", "input": f"question {n}", "checks": [{"type": "equals", "value": f"answer {n}"}]} for n in range(1, cases + 1)]
        wrong = set(bad)
        rows = [{"id": one["id"], "output": "wrong" if n in wrong else f"answer {n}"} for n, one in enumerate(asked, 1)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        path = folder / f"{name}.eval.yaml"
        document = {"version": 1, "name": name, "deterministic": True, "target": {"predictions": f"{name}.jsonl"}, **top, "cases": asked}
        path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        return path

    def imported(self, *, cases: int = 4, bad: Iterable[int] = ()) -> Path:
        """A suite `foreign` of promptfoo's results, wrong in the cases of `bad`; the file of the results."""
        folder, wrong = self.workspace / "evals", set(bad)
        folder.mkdir(exist_ok=True)
        rows = [
            {
                "success": n not in wrong, "score": float(n not in wrong), "vars": {"n": str(n)}, "provider": {"id": "p"}, "prompt": {"raw": f"question {n}"}, "promptIdx": 0,
                "testIdx": n - 1, "failureReason": int(n in wrong), "response": {"output": "x"}, "namedScores": {},
                "testCase": {"assert": [{"type": "contains"}]}, "gradingResult": {"pass": n not in wrong, "score": float(n not in wrong), "reason": "", "componentResults": None},
            }
            for n in range(1, cases + 1)
        ]  # fmt: skip
        path = folder / "out.json"
        path.write_text(json.dumps({"results": {"version": 3, "results": rows, "prompts": [], "stats": {}}}), encoding="utf-8")
        suite = {"version": 1, "name": "foreign", "import": {"format": "promptfoo", "path": "out.json"}}
        (folder / "foreign.eval.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
        return path

    def act(self, event: Event, *, run: dict[str, Any] | None = None, inputs: Mapping[str, object] | None = None, token: str = TOKEN, **variables: str | None) -> Ended:
        """One step that uses the Action. `inputs` are spelled as in a workflow; `variables` replace those of the runner, None takes one away."""
        self.steps += 1
        mode = str((inputs or {}).get("mode", "gate"))
        path = ACCEPT if mode in ("accept", "renew") else EVAL
        known = run or self._own_run(event, path)
        step = self.folder / f"step-{self.steps}"
        given = environment(self.gh, event, step, run=known)
        given |= {"GITHUB_WORKSPACE": str(self.workspace), "GITHUB_WORKFLOW_REF": f"octo/demo/{path}@{event.ref}", "PATH": "/usr/bin:/bin"}
        given |= {f"INPUT_{name.upper()}": str(value) for name, value in {"github-token": token, **(inputs or {})}.items()}
        given = {name: value for name, value in {**given, **variables}.items() if value is not None}
        self.said()
        self.given = dict(given)
        code = execute(given, [])
        results = self.workspace / given.get("INPUT_RESULTS-DIR", "eval-results")
        verdict = json.loads((results / "verdict.json").read_text()) if (results / "verdict.json").is_file() else None
        return Ended(code, read_outputs((step / "output").read_text()), self.said(), (step / "summary").read_text(), verdict, known)

    def finish(self, **variables: str) -> str:
        """The step that comes after the last one in the same job; its log."""
        self.said()
        assert execute({**self.given, **variables}, ["finish"]) == 0
        return self.said()

    @property
    def note(self) -> Path:
        """Where the last step leaves word of an open check run."""
        return Path(self.given["RUNNER_TEMP"]) / "eval-gate-results-eval-1.check.json"

    def _own_run(self, event: Event, path: str) -> dict[str, Any]:
        """The run that the step is part of: in progress, listed like any other."""
        pull = event.payload.get("pull_request")
        if pull is None:
            branch = event.ref.removeprefix("refs/heads/")
            return self.gh.run(event.name, branch, path=path, status="in_progress", conclusion=None, head_sha=event.sha)
        repo = None if pull["head"]["repo"]["id"] == self.gh.repository.id else Repository(pull["head"]["repo"]["id"], *pull["head"]["repo"]["full_name"].split("/"))
        return self.gh.run(event.name, pull["head"]["ref"], repo=repo, path=path, status="in_progress", conclusion=None, head_sha=pull["head"]["sha"])

    def upload(self, ended: Ended, *, conclusion: str = "success") -> dict[str, Any]:
        """What the workflow does next: the results become an artifact of the run, which ends; the workspace forgets them."""
        results = self.workspace / "eval-results"
        self.gh.artifact(ended.outputs["results-artifact"], ended.run, results)
        row = self.gh.runs[ended.run["id"]]
        row["status"], row["conclusion"] = "completed", conclusion
        shutil.rmtree(results)
        return row

    def accepted(self, event: Event, *, run: Mapping[str, Any], reason: str = "reviewed", **inputs: object) -> Ended:
        """A run accepted into the artifact store, its baseline uploaded and its run finished."""
        ended = self.act(event, inputs={"mode": "accept", "run-id": run["id"], "reason": reason, **inputs})
        for number in range(1, 9):
            name = ended.outputs.get(f"baseline-{number}-artifact")
            if name:
                self.gh.artifact(name, ended.run, Path(ended.outputs[f"baseline-{number}-path"]))
        row = self.gh.runs[ended.run["id"]]
        row["status"], row["conclusion"] = "completed", "success" if ended.code == 0 else "failure"
        return ended
