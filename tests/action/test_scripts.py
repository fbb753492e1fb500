"""The scripts that choose a runtime and become it, as real processes; docker is a program of ours that writes down what it was told."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.action.stage import ROOT, WORKS, Stage

SECRET = "not for a command line"
DIGEST = f"sha256:{'ab' * 32}"


@pytest.fixture
def stage(tmp_path):
    """A runner with a docker of ours."""
    return Stage(tmp_path).with_docker()


def mounts(ended):
    """The folders that are mounted."""
    return [words.split("source=")[1].split(",")[0] for words in ended.run if words.startswith("type=bind")]


def test_container__is_confined(stage):
    """The container has no root, no capability, no writable file system, no leftover, and is the caller's user."""
    words = stage.run().run

    assert {"--rm", "--init", "--read-only"} <= set(words)
    for flag, value in (("--user", f"{os.getuid()}:{os.getgid()}"), ("--cap-drop", "ALL"), ("--security-opt", "no-new-privileges"), ("--network", "host")):
        assert words[words.index(flag) + 1] == value


def test_container__folders_stand_at_their_own_paths(stage):
    """Workspace and temp folder are mounted where the runner has them, so that file commands and annotations keep their paths."""
    ended = stage.run()

    assert mounts(ended) == [str(stage.workspace), str(stage.temp)]
    assert all(word.split("source=")[1].split(",")[0] == word.split("target=")[1] for word in ended.run if word.startswith("type=bind"))
    assert ended.run[ended.run.index("--workdir") + 1] == str(stage.workspace)
    home = next(word for word in ended.run if word.startswith("HOME="))
    assert Path(home.removeprefix("HOME=")).is_relative_to(stage.temp)


def test_container__file_commands_elsewhere_are_mounted(stage):
    """A runner that keeps its file commands outside the temp folder has that folder mounted too."""
    other = stage.folder / "elsewhere" / "summary"
    other.parent.mkdir()
    other.touch()

    assert str(other.parent) in mounts(stage.run(GITHUB_STEP_SUMMARY=str(other)))


def test_container__dashed_inputs_arrive_whole(stage):
    """Inputs keep their dashes and line breaks on the way through bash, and no value stands in a command line."""
    ended = stage.run(**{"INPUT_BASELINE-DIR": "a\nb=c 'd'", "INPUT_GITHUB-TOKEN": SECRET})

    assert "INPUT_BASELINE-DIR" in ended.passed
    assert ended.handed == {"INPUT_GITHUB-TOKEN": SECRET}
    assert "INPUT_GITHUB-TOKEN" not in ended.passed
    assert ended.environment["INPUT_BASELINE-DIR"] == "a\nb=c 'd'"
    assert SECRET not in " ".join(ended.run)


def test_container__sees_only_what_it_needs(stage):
    """Inputs, the runner's description and proxies go in; tokens of the runtime, its command files and the rest of the environment stay out."""
    given = dict.fromkeys(("GITHUB_SHA", "RUNNER_ARCH", "CI", "https_proxy", "EVAL_GATE_KEY"), "in")
    kept = dict.fromkeys(("GITHUB_TOKEN", "GITHUB_ENV", "GITHUB_PATH", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH"), "out")

    passed = stage.run(**given, **kept).passed

    assert given.keys() <= passed
    assert not kept.keys() & passed


@pytest.mark.parametrize("between", ["\n", ",", " ", ", "])
def test_container__pass_env(stage, between):
    """Variables named in pass-env go in, however they are separated; a pattern is no name, and PATH stays the image's."""
    ended = stage.run(**{"INPUT_PASS-ENV": between.join(["MODEL_KEY", "A*", "GITHUB_TOKEN", "PATH"]), "MODEL_KEY": SECRET, "ABC": "x", "GITHUB_TOKEN": "y"})

    assert {"MODEL_KEY": SECRET, "GITHUB_TOKEN": "y"}.items() <= ended.handed.items()
    assert not {"ABC", "PATH"} & ended.handed.keys()
    assert not {"MODEL_KEY", "GITHUB_TOKEN", "ABC", "PATH"} & ended.passed


def test_container__private_certificates(stage):
    """The certificates of an enterprise server's own authority are mounted where their variable says."""
    bundle = stage.folder / "ca.pem"
    bundle.touch()

    ended = stage.run(SSL_CERT_FILE=str(bundle), REQUESTS_CA_BUNDLE="/no/such")

    assert f"type=bind,source={bundle},target={bundle},readonly" in ended.run
    assert "SSL_CERT_FILE" in ended.passed
    assert "REQUESTS_CA_BUNDLE" not in ended.passed


@pytest.mark.parametrize(("ref", "tag"), [("v1", "v1"), ("feature/x#1", "feature-x-1"), ("a" * 40, "a" * 40)])
def test_image__is_the_one_of_the_same_ref(stage, ref, tag):
    """The prebuilt image of the action's own repository and ref is pulled, in lower case, with a tag that registries accept."""
    ended = stage.run(EVAL_GATE_ACTION_REPOSITORY="Some/Eval-Gate", EVAL_GATE_ACTION_REF=ref)

    assert ended.words("pull") == [["pull", "--quiet", f"ghcr.io/some/eval-gate:{tag}"]]
    assert ended.run[-1] == f"ghcr.io/some/eval-gate:{tag}"
    assert f"image: ghcr.io/some/eval-gate:{tag}" in ended.log


def test_image__digest_of_the_release_wins(stage, tmp_path):
    """A digest that the release committed is what runs, whatever the tag has become."""
    shutil.copytree(ROOT / "action", tmp_path / "copy" / "action")
    (tmp_path / "copy" / "action" / "image-digest").write_text(f"{DIGEST}\n")

    ended = stage.run(root=tmp_path / "copy", EVAL_GATE_ACTION_REPOSITORY="some/gate", EVAL_GATE_ACTION_REF="v1")

    assert ended.run[-1] == f"ghcr.io/some/gate@{DIGEST}"


def test_image__built_when_there_is_none(stage):
    """Where the image cannot be pulled, the Dockerfile beside the scripts is built, and the log says why."""
    ended = stage.run(EVAL_GATE_ACTION_REPOSITORY="some/gate", EVAL_GATE_ACTION_REF="v1", FAKE_DOCKER=json.dumps({**WORKS, "pull": ["", 1]}))

    assert ended.words("build") == [["build", "--quiet", str(ROOT)]]
    assert ended.run[-1] == "sha256:built"
    assert "could not be pulled" in ended.log


def test_image__used_from_a_folder(stage):
    """Used as `./` there is no ref: nothing is asked of a registry."""
    ended = stage.run()

    assert (ended.words("pull"), ended.run[-1]) == ([], "sha256:built")


def test_image__of_the_workflow(stage):
    """An image that the workflow names is taken as it is when it is here; nothing stands in for it when it is not to be had."""
    here = stage.run(EVAL_GATE_IMAGE="mirror.example/gate:1", FAKE_DOCKER=json.dumps({**WORKS, "image inspect": ["", 0]}))
    gone = stage.run(EVAL_GATE_IMAGE="mirror.example/gate:1", FAKE_DOCKER=json.dumps({**WORKS, "pull": ["", 1]}))

    assert here.run[-1] == "mirror.example/gate:1"
    assert (gone.code, gone.outputs["verdict"], gone.words("build")) == (3, "not_measured", [])


def test_image__neither_pulled_nor_built(stage):
    """Without any image the run ends as not measured, with code, outputs and a last line that say so."""
    ended = stage.run(FAKE_DOCKER=json.dumps({**WORKS, "build": ["", 1]}))

    assert (ended.code, ended.outputs) == (3, {"verdict": "not_measured", "exit-code": "3"})
    assert "not_measured (exit 3)" in ended.log.strip().splitlines()[-1]


def test_container__ends_as_the_program_does(stage):
    """The exit code of the container is the step's."""
    assert stage.run(FAKE_DOCKER=json.dumps({**WORKS, "run --rm --init": ["", 1]})).code == 1


def test_container__rootless_engine(stage):
    """An engine without root maps its root to the caller, and any other number to nobody's: the container is root there."""
    ended = stage.run(FAKE_DOCKER=json.dumps({"info --format {{.SecurityOptions}}": ["[name=rootless]", 0], **WORKS}))

    assert ended.run[ended.run.index("--user") + 1] == "0:0"


def test_finish__with_nothing_left_starts_nothing(stage):
    """After a run with a verdict and without a note of an open check run, `finish` starts neither container nor program."""
    ended = stage.run("finish", EVAL_GATE_VERDICT="regressed")
    assert (ended.code, ended.calls) == (0, [])


def test_finish__ends_what_was_left(stage):
    """`finish` ends the container of a run whose docker was killed, pulls nothing, and runs the program with its word."""
    ended = stage.run("finish", EVAL_GATE_ACTION_REPOSITORY="some/gate", EVAL_GATE_ACTION_REF="v1", FAKE_DOCKER=json.dumps({**WORKS, "ps": ["abc", 0], "image inspect": ["", 0]}))

    assert ended.words("kill") == [["kill", "abc"]]
    assert (ended.words("pull"), ended.run[-2:]) == ([], ["ghcr.io/some/gate:v1", "finish"])
    label = ended.run[ended.run.index("--label") + 1]
    assert f"label={label}" in ended.words("ps")[0]


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"GITHUB_WORKSPACE": "/__w/a/a"}, "the job itself runs in a container"),
        ({"DOCKER_HOST": "tcp://far:2375"}, "docker is on another machine"),
        ({"FAKE_DOCKER": json.dumps({"info": ["", 1]})}, "docker does not answer"),
        ({"FAKE_DOCKER": json.dumps({"info": ["windows", 0]})}, "docker does not answer"),
        ({"RUNNER_OS": "macOS"}, "Linux runners only"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_auto__says_why_it_takes_the_host(stage, variables, reason):
    """Where no container can be had, `auto` takes the host and says why, and `container` is refused with the same reason."""
    ready(stage)

    chosen, refused = stage.run(**variables), stage.run(INPUT_RUNTIME="container", **variables)

    assert "runtime: host, because" in chosen.log
    assert reason in chosen.log
    assert chosen.code == 5
    assert (refused.code, refused.outputs["verdict"]) == (2, "config_error")
    assert reason in refused.log


@pytest.mark.skipif(not Path("/.dockerenv").exists(), reason="this machine is no container of docker")
def test_auto__a_runner_in_a_container_that_docker_does_not_look_into(stage):
    """Where docker cannot mount the runner's folders, `auto` takes the host, `container` is refused, and docker's own words stand in the log."""
    ready(stage)
    blind = json.dumps({**WORKS, "run --rm --network none": ["no such folder", 125]})

    chosen, refused = stage.run(FAKE_DOCKER=blind), stage.run(INPUT_RUNTIME="container", FAKE_DOCKER=blind)

    assert (chosen.code, refused.code, refused.outputs["verdict"]) == (5, 2, "config_error")
    assert "runtime: host instead" in chosen.log
    assert "does not see" in refused.log
    assert "no such folder" in refused.log


def test_auto__no_docker(tmp_path):
    """A runner without docker gets the host."""
    stage = Stage(tmp_path)
    ready(stage)

    ended = stage.run(PATH=stage.without("docker"))

    assert (ended.code, ended.calls) == (5, [])
    assert "there is no docker" in ended.log


def test_runtime__a_word_that_is_none(stage):
    """A runtime that does not exist is left to the program, which refuses it together with every other fault."""
    assert "INPUT_RUNTIME" in stage.run(INPUT_RUNTIME="conatiner").passed


@pytest.mark.parametrize("runtime", ["auto", "host", "container"])
@pytest.mark.parametrize("words", [(), ("finish",)])
def test_windows__is_refused(stage, runtime, words):
    """On Windows every runtime ends as a configuration error that names the system and a runner to use, without starting docker or Python."""
    ended = stage.run(*words, RUNNER_OS="Windows", INPUT_RUNTIME=runtime)

    assert (ended.code, ended.outputs, ended.calls) == (2, {"verdict": "config_error", "exit-code": "2"}, [])
    assert "this runner's is Windows" in ended.log
    assert "ubuntu-latest" in ended.log
    assert [line for line in ended.log.splitlines() if not line.startswith("eval-gate: ")] == []


def test_windows__without_the_runners_word(tmp_path):
    """Where RUNNER_OS is not set, what `uname` says of Git Bash is refused alike."""
    stage = Stage(tmp_path)
    uname = stage.bin / "uname"
    uname.write_text("#!/bin/sh\necho MINGW64_NT-10.0-20348\n")
    uname.chmod(0o755)

    ended = stage.run(RUNNER_OS=None)

    assert (ended.code, ended.outputs["verdict"]) == (2, "config_error")
    assert "MINGW64_NT" in ended.log


def test_windows__scripts_keep_their_line_ends():
    """A checkout that converts line ends, as git's on Windows does, leaves those of the scripts, which bash could not read otherwise."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("this is no git checkout")
    asked = ["git", "-C", str(ROOT), "check-attr", "eol", "--", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "action").glob("*.sh")))]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()

    assert [line for line in said if not line.endswith("eol: lf")] == []
    assert len(said) >= 6


BASH_4 = r"""\b(?:mapfile|readarray|coproc|compopt)\b | \b(?:declare|local|typeset)\ +-[a-zA-Z]*[Anlu] | \$\{[^}]*(?:,|\^|@[A-Za-z])\} | \$\{\w+(?:,,|\^\^)
    | &>> | \|& | ;;& | ;&(?!&) | \bwait\ +-n\b | \[\[\ +-v\b | %\([^)]*\)T | \bshopt\ +-s\ +(?:globstar|inherit_errexit|lastpipe) | \{[0-9]+\.\.[0-9]+\.\.
    | \bBASHPID\b | \bEPOCH(?:SECONDS|REALTIME)\b | \bread\ +-[a-z]*[Ni]\b | \{\w+\}[<>]"""
"""What macOS's bash 3.2 does not know."""
GNU = r"""\bsed\ +(?:-[a-zA-Z]*[ir]|--) | \bdate\ +(?:-d|--) | \bstat\ +(?:-c|--) | \bmktemp\ +(?:-p|--) | \breadlink\ +-[fem] | \brealpath\b | \bgrep\ +-[a-zA-Z]*P
    | \bxargs\ +-[a-zA-Z]*[rd] | \bsort\ +-[a-zA-Z]*V | \bhead\ +-n\ *- | \bcp\ +(?:--|-[a-zA-Z]*[alu]) | \b(?:timeout|tac|nproc|sha256sum|md5sum|setsid|flock|seq|shuf)\b
    | \bls\ +-- | \bdu\ +-[a-zA-Z]*b | \bbase64\ +-w | \btr\ +--"""
"""Programs and flags that macOS does not have."""


@pytest.mark.parametrize("pattern", [BASH_4, GNU], ids=["bash-4", "gnu"])
def test_macos__scripts_use_what_its_tools_know(pattern):
    """No script that runs on macOS uses what bash 3.2 or the BSD tools lack; comments may speak of it."""
    found = re.compile(pattern, re.VERBOSE)
    code = [(path.name, line) for path in sorted((ROOT / "action").glob("*.sh")) for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]

    assert [(name, line) for name, line in code if found.search(line)] == []
    assert len(code) > 150


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        *((BASH_4, line) for line in ("mapfile -t a", "x=${name,,}", "x=${name^}", "local -n ref=$1", "declare -A map", "a |& b", "a &>> log", "wait -n", "[[ -v x ]]", "${x@Q}")),
        *((GNU, line) for line in ("sed -i s/a/b/ f", "date -d now", "stat -c %s f", "readlink -f f", "grep -oP x", "timeout 5 a", "sort -V", "mktemp -p /tmp", "cp -al a b")),
    ],
)
def test_macos__the_search_finds(pattern, line):
    """Each kind of what is searched for is found."""
    assert re.search(pattern, line, re.VERBOSE)


def test_macos__auto_takes_the_host_without_an_empty_list_or_docker(tmp_path):
    """On macOS, where the lists of docker's options are never filled, the host runs although nothing unset may be read."""
    stage = Stage(tmp_path)
    ready(stage)

    ended = stage.run(RUNNER_OS="macOS", PATH=stage.without("docker"))

    assert (ended.code, ended.calls) == (5, [])
    assert "unbound" not in ended.log


def ready(stage):
    """Make the host's environment look installed: python3 there ends with 5 and writes its words down."""
    script = f'here={ROOT}/action root={ROOT}; source "$here/host.sh"; place_for "$(find_python)"'
    place = subprocess.run(["bash", "-c", script], env=stage.environment(), capture_output=True, text=True, check=True).stdout
    (Path(place) / "bin").mkdir(parents=True)
    program = Path(place) / "bin" / "python"
    program.write_text(f'#!/bin/sh\nenv -0 > "{stage.folder}/host-env"\necho "$@" > "{stage.folder}/host-words"\nexit 5\n')
    program.chmod(0o755)
    (Path(place) / "complete").touch()


def test_host__runs_the_same_program(stage):
    """The host runs entrypoint.py in the environment below the temp folder, with its words, and ends as it does."""
    ready(stage)

    ended = stage.run("finish", INPUT_RUNTIME="host")

    assert ended.code == 5
    assert (stage.folder / "host-words").read_text().split() == ["-I", str(ROOT / "entrypoint.py"), "finish"]
    assert b"PYTHONDONTWRITEBYTECODE=1" in (stage.folder / "host-env").read_bytes().split(b"\0")


def test_host__modules_of_the_workspace_stay_out(stage):
    """A module in the workspace that is named like one of the library's is not loaded while the environment is made."""
    ready(stage)
    stage.workspace.joinpath("hashlib.py").write_text("raise SystemExit('loaded')")

    assert stage.run(INPUT_RUNTIME="host").code == 5


def test_host__no_python(tmp_path):
    """A host without a Python that is new enough is a configuration error that names the step to add."""
    stage = Stage(tmp_path)
    pythons = {program.name for place in os.get_exec_path() if Path(place).is_dir() for program in Path(place).glob("python*")}

    ended = stage.run(INPUT_RUNTIME="host", PATH=stage.without(*pythons))

    assert (ended.code, ended.outputs["verdict"]) == (2, "config_error")
    assert "actions/setup-python" in ended.log


def test_host__packages_that_cannot_be_had(stage):
    """An index that does not answer ends as not measured and leaves no half environment."""
    ended = stage.run(INPUT_RUNTIME="host", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(stage.folder), PIP_CONFIG_FILE=os.devnull)

    assert (ended.code, ended.outputs["verdict"]) == (3, "not_measured")
    assert not [place for place in stage.temp.glob("eval-gate-*") if place.name != "eval-gate-home"]


def test_checkouts__are_told_to_the_image(stage):
    """Under pull_request_target what git has checked out anywhere in the workspace goes along, with what it merges, for the image has no git to ask."""

    def git(folder, *words):
        return subprocess.run(["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.com", *words], check=True, capture_output=True, text=True).stdout.strip()

    origin, shallow = stage.folder / "origin", stage.workspace / "deep/pr"
    for folder in (stage.workspace, origin):
        folder.mkdir(exist_ok=True)
        git(folder, "init", "-q", "-b", "main")
        git(folder, "commit", "-q", "--allow-empty", "-m", f"of {folder.name}")
    git(origin, "checkout", "-q", "-b", "change")
    git(origin, "commit", "-q", "--allow-empty", "-m", "head")
    foreign = git(origin, "rev-parse", "HEAD")
    git(origin, "checkout", "-q", "main")
    git(origin, "merge", "-q", "--no-ff", "-m", "parent of all", "change")
    git(stage.folder, "clone", "-q", "--depth", "1", origin.as_uri(), str(shallow))

    told = stage.run(GITHUB_EVENT_NAME="pull_request_target").environment["EVAL_GATE_CHECKOUT"]

    assert sorted(line.split("\t")[1].split()[0] for line in told.splitlines()) == sorted([git(stage.workspace, "rev-parse", "HEAD"), git(shallow, "rev-parse", "HEAD")])
    assert foreign in told
    assert "EVAL_GATE_CHECKOUT" not in stage.run(GITHUB_EVENT_NAME="pull_request").environment


def test_checkouts__are_asked_of_a_git_without_the_inputs(stage):
    """What git starts for a repository's sake inherits what git was given, and that holds no token."""
    seen, program = stage.folder / "seen", stage.bin / "git"
    (stage.workspace / ".git").mkdir()
    program.write_text(f'#!/bin/sh\nenv >>"{seen}"\n')
    program.chmod(0o755)
    stage.run(**{"GITHUB_EVENT_NAME": "pull_request_target", "INPUT_GITHUB-TOKEN": "s3cr3t", "MY_API_KEY": "s3cr3t"})

    assert f"HOME={stage.folder}" in seen.read_text()
    assert "s3cr3t" not in seen.read_text()


@pytest.mark.parametrize(("said", "code"), [("1", 1), ("", 3), ("99", 3), ("x\ny", 3)])
def test_verdict__counts_when_the_engine_loses_the_code(stage, said, code):
    """A run step that ended well against its verdict turns red with the verdict's code, or with 3 where there is none."""
    assert stage.run(script="verdict.sh", RUN_EXIT_CODE=said, RUN_VERDICT="x").code == code


def test_not_kept__is_one_warning(stage):
    """A failed upload is one workflow command that says what it costs, whatever the artifact is called."""
    ended = stage.run(script="not-kept.sh", RESULTS_ARTIFACT="a\n::error::b")

    assert ended.code == 0
    assert [line for line in ended.log.splitlines() if line.startswith("::")] == ended.log.splitlines()
    assert "::error" not in ended.log
