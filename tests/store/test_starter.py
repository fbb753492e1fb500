"""The starter files of `init`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from evalaction.errors import ConfigError
from evalaction.store.starter import PLACES, ignore_results, write_starter

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = [place for place in PLACES.values() if place.suffix == ".yml"]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with all starter files."""
    folder = tmp_path_factory.mktemp("starter") / "project"
    write_starter(folder)
    return folder


def workflow(project, place):
    """One workflow, parsed; YAML reads its key `on` as true."""
    return yaml.safe_load(project.joinpath(place).read_text(encoding="utf-8"))


def steps(project):
    """All steps of all jobs of all workflows."""
    return [step for place in WORKFLOWS for job in workflow(project, place)["jobs"].values() for step in job["steps"]]


def tree(folder):
    """Every file below a folder, by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_write_starter__empty_folder(tmp_path):
    """A suite and three workflows are written below a folder that need not exist, and nothing else."""
    written, kept = write_starter(tmp_path / "a" / "b")

    assert (sorted(written), kept) == (sorted(tmp_path / "a" / "b" / place for place in PLACES.values()), [])
    assert sorted(tree(tmp_path / "a" / "b")) == sorted(map(str, PLACES.values()))


def test_write_starter__never_overwrites(tmp_path):
    """A file of the user's is kept byte for byte, and named as kept; what is missing beside it is written."""
    mine = tmp_path / "evals" / "starter.eval.yaml"
    mine.parent.mkdir()
    mine.write_text("# mine\n")

    written, kept = write_starter(tmp_path)

    assert (kept, len(written)) == ([mine], 3)
    assert mine.read_text() == "# mine\n"


def test_write_starter__twice_changes_nothing(tmp_path):
    """The second time everything is kept."""
    write_starter(tmp_path)
    before = tree(tmp_path)

    written, kept = write_starter(tmp_path)

    assert (written, len(kept)) == ([], len(PLACES))
    assert tree(tmp_path) == before


def test_write_starter__link_out_of_the_folder(tmp_path):
    """A link that leads out of the folder is refused before anything is written, on either side."""
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    project.joinpath(".github").symlink_to(elsewhere)

    with pytest.raises(ConfigError) as refused:
        write_starter(project)

    assert [fault.code for fault in refused.value.faults] == ["OUTSIDE_WORKSPACE"]
    assert (tree(project), tree(elsewhere)) == ({}, {})


def test_write_starter__dangling_link_in_the_place(tmp_path):
    """A dangling link where a file belongs is not followed: it is kept, and its target does not come to be."""
    project, target = tmp_path / "project", tmp_path / "target.yaml"
    project.joinpath("evals").mkdir(parents=True)
    project.joinpath("evals/starter.eval.yaml").symlink_to(target)

    _, kept = write_starter(project)

    assert kept == [project / "evals" / "starter.eval.yaml"]
    assert not target.exists()


def test_write_starter__folder_is_a_file(tmp_path):
    """A file where the folder belongs is a fault with a place and a remedy, no traceback."""
    tmp_path.joinpath("taken").write_text("x")

    with pytest.raises(ConfigError) as refused:
        write_starter(tmp_path / "taken")

    assert str(tmp_path / "taken") in str(refused.value)
    assert "Fix:" in str(refused.value)


def test_write_starter__own_action(tmp_path):
    """Every workflow takes the Action from the repository and version that is given."""
    write_starter(tmp_path, "acme/gate@0123abc")

    used = [step["uses"] for step in steps(tmp_path)]
    assert not [one for one in used if one.startswith("org/")]
    assert used.count("acme/gate@0123abc") == 4


@pytest.mark.parametrize("action", ["", "acme/gate", "acme@v1", "acme/gate@v1\n      - run: id", "acme/gate@v1 # x", "../gate@v1"])
def test_write_starter__what_is_no_action(tmp_path, action):
    """Another text than OWNER/REPO@REF is refused before anything is written: it could change the workflow."""
    with pytest.raises(ConfigError) as refused:
        write_starter(tmp_path, action)

    assert ([fault.code for fault in refused.value.faults], tree(tmp_path)) == (["INVALID_INPUT"], {})


@pytest.mark.parametrize(("before", "after"), [(None, b"eval-results/\n"), (b"*.pyc", b"*.pyc\neval-results/\n"), (b"/eval-results\n", b"/eval-results\n")])
def test_ignore_results__once(tmp_path, before, after):
    """The results' folder is ignored by one line at the end, and by no second one, however the first is spelled."""
    path = tmp_path / ".gitignore"
    if before is not None:
        path.write_bytes(before)

    changed = [ignore_results(tmp_path), ignore_results(tmp_path)]

    assert (path.read_bytes(), changed) == (after, [before != after, False])


def test_ignore_results__link(tmp_path):
    """A link in the place of .gitignore is not written through."""
    (tmp_path / "other").write_text("x\n")
    (tmp_path / ".gitignore").symlink_to(tmp_path / "other")

    assert (ignore_results(tmp_path), (tmp_path / "other").read_text()) == (False, "x\n")


def test_workflows__no_expression_in_a_script(project):
    """No expression stands inside a `run:`, so that no branch name or input can become a command."""
    assert steps(project)
    assert not [step for step in steps(project) if "${{" in step.get("run", "")]


def test_workflows__least_permissions(project):
    """No workflow runs under `pull_request_target`; each starts from no permissions, and each job names its own."""
    for place in WORKFLOWS:
        flow = workflow(project, place)
        assert "pull_request_target" not in flow[True]
        assert flow["permissions"] == {}
        granted = [job["permissions"] for job in flow["jobs"].values()]
        assert all(granted)
        assert {name for names in granted for name, level in names.items() if level == "write"} <= {"checks", "pull-requests"}


def test_workflows__checkout_is_pinned_and_keeps_no_token(project):
    """Every foreign action is pinned by a full commit, and no checkout leaves the token in the folder."""
    used = [step for step in steps(project) if not step["uses"].startswith("org/eval-gate@")]

    assert used
    assert all(len(step["uses"].partition("@")[2]) == 40 for step in used)
    assert all(step["with"]["persist-credentials"] is False for step in used)


def test_workflows__names_that_refer_to_each_other(project):
    """The report listens to the gate's workflow by its name, and the acceptance file has the name that the gate trusts by default."""
    gate = workflow(project, Path(".github/workflows/eval-gate.yml"))
    report = workflow(project, Path(".github/workflows/eval-gate-report.yml"))

    assert report[True]["workflow_run"]["workflows"] == [gate["name"]]
    assert project.joinpath(".github/workflows/accept-baseline.yml").exists()
    assert set(gate[True]) == {"pull_request", "merge_group", "push", "schedule"}


@pytest.mark.parametrize("linter", [("zizmor", "--offline", "--persona", "pedantic"), ("actionlint",)], ids=lambda linter: linter[0])
def test_workflows__linters_are_content(project, linter):
    """The linters of the field find nothing to object in the workflows."""
    program = shutil.which(linter[0], path=str(Path(sys.executable).parent)) or shutil.which(linter[0])
    if program is None:
        pytest.skip(f"{linter[0]} is not installed")

    done = subprocess.run([program, *linter[1:], *(project / place for place in WORKFLOWS)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_starter_suite__commands_of_its_target(project):
    """The suite's target, run as a text command, satisfies the suite's own checks for each of its inputs."""
    suite = yaml.safe_load(project.joinpath("evals/starter.eval.yaml").read_text(encoding="utf-8"))
    command = suite["target"]["exec"]["command"]

    answers = {case["id"]: subprocess.run(["bash", "-c", command], input=case["input"], capture_output=True, text=True, check=True).stdout for case in suite["cases"]}

    assert "within 30 days in its original packaging" in answers["refund-window"]
    assert "9 to 17" in answers["opening-hours"]
    assert "do not know" in answers["says-so-when-it-does-not-know"]


def test_starter_suite__runs_as_it_stands(project, tmp_path):
    """The command line finds the suite valid, and a run of it passes every check."""
    for command in (["validate"], ["gate", "--out", str(tmp_path / "results"), "--baseline", str(tmp_path / "baselines")]):
        arguments = [sys.executable, "-m", "evalaction", *command, "evals"]
        done = subprocess.run(arguments, cwd=project, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    verdict = json.loads(tmp_path.joinpath("results", "verdict.json").read_text(encoding="utf-8"))
    assert (verdict["verdict"], [case["current"] for case in verdict["suites"][0]["cases"]]) == ("no_baseline", [1, 1, 1])
