"""The gate on GitHub: what a pull request gets."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml

from tests.github import events
from tests.github.fake import READ, Token


def check_on(gh, sha):
    """The one check run of a commit."""
    found = [row for row in gh.checks.values() if row["head_sha"] == sha]
    assert len(found) == 1
    return found[0]


def test_gate__regression_is_red_everywhere(acting, gh, baseline):
    """A case that got worse ends with exit 1, a red check on the head, an annotation on its line, and one comment that names case, acceptance and reason."""
    baseline()
    pull = gh.pull()
    path = acting.suite(bad=[2])
    ended = acting.act(events.pull_request(gh, pull))
    check, comments = check_on(gh, pull["head"]["sha"]), gh.comments_on(pull["number"])
    assert (ended.code, ended.word, ended.outputs["regressed"], ended.outputs["baseline-found"]) == (1, "regressed", "1", "true")
    assert (check["status"], check["conclusion"]) == ("completed", "failure")
    assert len(comments) == 1
    for text in (comments[0]["body"], ended.summary):
        assert all(word in text for word in ("case-2", "first level", "alice", pull["head"]["sha"][:7]))
    remark = check["output"]["annotations"][0] if "annotations" in check["output"] else gh.calls("PATCH", "/check-runs/")[-1].json["output"]["annotations"][0]
    assert remark["path"] == "evals/support.eval.yaml"
    assert "case-2" in path.read_text().splitlines()[remark["start_line"] - 1]
    assert ended.outputs["comment-url"] == comments[0]["html_url"]
    assert ended.log.rstrip().splitlines()[-1].startswith("::")
    assert "eval-gate: regressed (exit 1)" in ended.log


def test_gate__without_baseline_says_so_first(acting, gh):
    """Without a baseline nothing is red, the check is neutral, and report and outputs say that nothing was compared (P60)."""
    pull = gh.pull()
    acting.suite(bad=[1])
    ended = acting.act(events.pull_request(gh, pull))
    assert (ended.code, ended.word, ended.outputs["baseline-found"]) == (0, "no_baseline", "false")
    assert "nothing was compared" in ended.summary.splitlines()[0]
    assert check_on(gh, pull["head"]["sha"])["conclusion"] == "neutral"


def test_gate__broken_suite_is_action_required(acting, gh):
    """A broken suite ends with exit 2, `action_required`, and annotations on its lines."""
    pull = gh.pull()
    acting.suite().write_text("version: 1\nname: support\ncasez: []\n")
    ended = acting.act(events.pull_request(gh, pull))
    assert (ended.code, ended.word) == (2, "config_error")
    assert check_on(gh, pull["head"]["sha"])["conclusion"] == "action_required"
    remarks = gh.calls("PATCH", "/check-runs/")[-1].json["output"]["annotations"]
    assert {(one["path"], one["start_line"]) for one in remarks} >= {("evals/support.eval.yaml", 3)}


def test_gate__check_is_opened_before_anything_is_looked_up(acting, gh, baseline):
    """The check run is opened in progress first, and completed by the same id."""
    baseline()
    pull = gh.pull()
    gh.seen.clear()
    acting.act(events.pull_request(gh, pull))
    writes = [call for call in gh.writes() if "/check-runs" in call.path]
    assert gh.seen[0] is writes[0]
    assert writes[0].json["status"] == "in_progress"
    assert [call.method for call in writes] == ["POST", "PATCH"]


def test_gate__calls_do_not_grow_with_the_cases(acting, gh, baseline):
    """A pull request's run with a baseline asks GitHub's API eleven times, whatever the number of cases, and once more where it posts the first comment."""
    baseline(cases=40)
    pull = gh.pull()
    for most in (12, 11):
        gh.seen.clear()
        acting.act(events.pull_request(gh, pull))
        assert len(gh.api_calls()) <= most


@pytest.mark.parametrize("event", ["push", "schedule", "dispatch", "merge_group"])
def test_gate__events_without_a_pull_request(acting, gh, baseline, event):
    """Other events get summary and check on their own commit, and no comment (P88)."""
    baseline()
    acting.suite(bad=[3])
    happened = getattr(events, event)(gh)
    ended = acting.act(happened)
    head = happened.payload.get("merge_group", {}).get("head_sha", happened.sha)
    assert ended.word == "regressed"
    assert "case-3" in ended.summary
    assert any(row["head_sha"] == head and row["conclusion"] == "failure" for row in gh.checks.values())
    assert not gh.comments


@pytest.mark.parametrize("surface", ["/check-runs$", "/comments$", "/check-runs/"])
@pytest.mark.parametrize("status", [403, 404, 422, 500])
def test_gate__publishing_never_changes_the_verdict(acting, gh, baseline, surface, status):
    """Whatever GitHub says to a comment or a check, the verdict and the summary stand, and one warning names the permission (P90, P91)."""
    baseline()
    acting.suite(bad=[1])
    gh.fail("PATCH" if surface.endswith("runs/") else "POST", surface, status)
    ended = acting.act(events.pull_request(gh, gh.pull()))
    assert (ended.code, ended.word) == (1, "regressed")
    assert "case-1" in ended.summary
    assert ended.log.count("::warning") == 1
    assert ("checks: write" if "check" in surface else "pull-requests: write") in ended.log


@pytest.mark.parametrize("place", ["", "/nowhere/summary", "/dev/full"])
def test_gate__summary_that_was_not_written_is_not_pointed_to(acting, gh, place):
    """Where the job's summary could not be written, neither check nor log says that the whole report is there."""
    pull = gh.pull()
    acting.suite()
    gh.fail("POST", "/comments$", 403)
    ended = acting.act(events.pull_request(gh, pull), GITHUB_STEP_SUMMARY=place)
    assert "summary](" not in check_on(gh, pull["head"]["sha"])["output"]["summary"]
    assert "pull-requests: write" in ended.log
    assert "summary has everything" not in ended.log
    other = gh.pull("second")
    acting.act(events.pull_request(gh, other))
    assert "summary](" in check_on(gh, other["head"]["sha"])["output"]["summary"]


def test_gate__read_only_token(acting, gh, baseline):
    """A token that may only read costs comment and check, and is said once with both permissions."""
    baseline()
    gh.tokens["reader-token"] = Token(permissions=READ)
    ended = acting.act(events.pull_request(gh, gh.pull()), token="reader-token")
    assert ended.word == "passed"
    assert not gh.comments
    assert ended.log.count("::warning") == 1
    assert "checks: write" in ended.log
    assert "pull-requests: write" in ended.log


def test_gate__newer_head_gets_no_comment(acting, gh):
    """A run whose head was pushed over writes no comment, and says that it is stale (P102)."""
    pull = gh.pull()
    event = events.pull_request(gh, pull)
    pull["head"]["sha"] = gh.push("feature")
    acting.suite()
    ended = acting.act(event)
    assert not gh.comments
    assert "stale" in ended.log


_NEEDY = {
    "http": {"http": {"url": "http://127.0.0.1:9/", "headers": {"X": "{{ env.KEY_OF_MODEL }}"}, "extract": {"output": "a"}}},
    "exec": {"exec": {"command": "touch called; echo yes", "protocol": "text", "env": ["KEY_OF_MODEL"]}},
}


@pytest.mark.parametrize("target", _NEEDY)
@pytest.mark.parametrize("variables", [{}, {"KEY_OF_MODEL": ""}])
@pytest.mark.parametrize("who", ["fork", "dependabot"])
def test_gate__outsider_without_secrets_is_not_run(acting, gh, who, variables, target):
    """A pull request from a fork or Dependabot whose secret is missing is not_run, exit 0, and says why; nothing is called (P123)."""
    pull = gh.pull("main", repo=gh.fork()) if who == "fork" else gh.pull("dependabot/pip/x", author="dependabot[bot]")
    acting.suite(target=_NEEDY[target])
    ended = acting.act(events.pull_request(gh, pull), **variables)
    assert (ended.code, ended.word) == (0, "not_run")
    assert "KEY_OF_MODEL" in ended.summary
    assert "fork" in ended.log
    assert check_on(gh, pull["head"]["sha"])["conclusion"] == "neutral"


def test_gate__own_pull_request_without_its_secret_is_a_configuration_error(acting, gh):
    """The same suite in a pull request of our own is a configuration error that names the variable (P123)."""
    acting.suite(target={"http": {"url": "http://127.0.0.1:9/", "headers": {"X": "{{ env.KEY_OF_MODEL }}"}, "extract": {"output": "a"}}})
    ended = acting.act(events.pull_request(gh, gh.pull()))
    assert (ended.code, ended.word) == (2, "config_error")
    assert "KEY_OF_MODEL" in ended.log


def test_gate__shard_publishes_nothing(acting, gh):
    """A shard writes its results and shows nothing: only the job that merges does."""
    acting.suite()
    ended = acting.act(events.pull_request(gh, gh.pull()), inputs={"shard": "1/2", "key": "eval-0"})
    assert ended.code == 0
    assert ended.outputs["results-artifact"] == "eval-gate-results-eval-0-1"
    assert not gh.writes()


def test_gate__crash_completes_the_check(acting, gh, monkeypatch):
    """A bug ends with exit 4, and the check that was opened is completed as a failure (P109)."""
    pull = gh.pull()
    acting.suite()
    monkeypatch.setattr("evalaction.app.loading.load_suites", lambda *_: 1 / 0)
    ended = acting.act(events.pull_request(gh, pull))
    assert (ended.code, ended.word) == (4, "internal_error")
    assert check_on(gh, pull["head"]["sha"])["conclusion"] == "failure"
    assert "Traceback" not in ended.log


def test_gate__token_reaches_neither_target_nor_results(acting, gh):
    """A target that prints its environment shows no token, no input and no runtime variable of the runner (P156)."""
    acting.suite(target={"exec": {"command": "env", "protocol": "text", "env": ["*"]}}, gate={"thresholds": {"pass_rate": 0.5}})
    secret = "runtime-secret-of-the-runner"
    acting.act(events.pull_request(gh, gh.pull()), ACTIONS_RUNTIME_TOKEN=secret, GITHUB_TOKEN=secret, ACTIONS_ID_TOKEN_REQUEST_TOKEN=secret)
    text = "".join(path.read_text() for path in (acting.workspace / "eval-results").rglob("*.json"))
    assert "PATH=" in text
    assert secret not in text
    assert "INPUT_" not in text


def test_gate__files_of_the_runner_reach_no_target(acting, gh):
    """A target cannot write what the runner would take as outputs, variables, paths or a summary of this step."""
    names = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
    acting.suite(target={"exec": {"command": "env", "protocol": "text", "env": ["*"]}}, gate={"thresholds": {"pass_rate": 0.5}})
    files = {name: str(acting.folder / f"of-the-runner-{name}") for name in names if name not in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    acting.act(events.pull_request(gh, gh.pull()), **files)
    text = "".join(path.read_text() for path in (acting.workspace / "eval-results").rglob("*.json"))
    assert "GITHUB_SHA=" in text
    assert not [name for name in names if f"{name}=" in text]


@pytest.mark.parametrize("bad", [(), (1,)])
def test_gate__base_measured_beside_a_foreign_head(acting, gh, baseline, bad):
    """Under pull_request_target the default branch is what is measured: nothing of it concludes on the head, and every report says so."""
    baseline()
    pull = gh.pull("main", repo=gh.fork())
    acting.suite(bad=bad)
    ended = acting.act(events.pull_request(gh, pull, name="pull_request_target"))
    assert ended.word == ("regressed" if bad else "passed")
    assert check_on(gh, pull["head"]["sha"])["conclusion"] == "action_required"
    assert "Not this change" in gh.comments_on(pull["number"])[0]["body"]
    assert ended.suite["commit"] == gh.tip() != pull["head"]["sha"]


def test_gate__after_another_workflow_the_check_is_on_what_was_measured(acting, gh, baseline):
    """Under workflow_run the check goes to the commit that is checked out here, not to the head of the run that finished."""
    baseline()
    pull = gh.pull("main", repo=gh.fork())
    upstream = gh.run("pull_request", "main", repo=gh.fork("eve"), path=".github/workflows/eval.yml", head_sha=pull["head"]["sha"])
    acting.suite()
    event = events.workflow_run(gh, upstream)
    acting.act(event)
    assert [row["conclusion"] for row in gh.checks.values() if row["head_sha"] == event.sha][-1] == "success"
    assert not [row for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"]]


def test_gate__two_keys_keep_two_comments(acting, gh):
    """Two uses with keys of their own keep a comment and a check each, and each edits its own (P99)."""
    pull = gh.pull()
    acting.suite()
    for key in ("one", "two", "one"):
        acting.act(events.pull_request(gh, pull), inputs={"key": key})
    assert len(gh.comments_on(pull["number"])) == 2
    assert len({row["name"] for row in gh.checks.values()}) == 2


def test_gate__expired_and_foreign_baselines_are_told_apart(acting, gh, baseline):
    """Only expired baselines are a configuration error with date and remedy; a fork's are passed over, each with its reason in log and report (P61, P64)."""
    baseline()
    stored = next(row for row in gh.artifacts.values() if row["name"] == "eval-gate-baseline-support")
    stored["expired"] = True
    ended = acting.act(events.pull_request(gh, gh.pull()))
    assert (ended.code, "BASELINE_EXPIRED" in ended.log) == (2, True)
    del gh.artifacts[stored["id"]]
    gh.artifact("eval-gate-baseline-support", gh.run("push", "main", repo=gh.fork()), b"zip")
    ended = acting.act(events.pull_request(gh, gh.pull()))
    assert ended.word == "no_baseline"
    assert "passed over" in ended.summary
    assert "passed over" in ended.log


def test_gate__outage_of_the_artifact_list_is_not_measured(acting, gh, baseline):
    """When the list of artifacts cannot be read the run is not_measured, never taken for "no baseline"; nothing is measured in vain."""
    baseline()
    gh.fail("GET", "/actions/artifacts$", 502)
    ended = acting.act(events.push(gh))
    assert (ended.code, ended.word) == (3, "not_measured")
    assert "GITHUB_UNAVAILABLE" in ended.log
    assert json.loads((acting.workspace / "eval-results" / "verdict.json").read_text())["reasons"][0]["code"] == "GITHUB_UNAVAILABLE"


def test_gate__report_file_is_whole_where_the_comment_is_cut(acting, gh, baseline):
    """The report's file names every case that got worse; comment, check and summary keep GitHub's limits and say how many more there are (P92, P94, P97)."""
    many = {"cases": 400, "named": "a-case-with-a-long-name" * 6}
    baseline(**many)
    acting.suite(**many, bad=range(1, 401))
    pull = gh.pull()
    ended = acting.act(events.pull_request(gh, pull))
    report = (acting.workspace / ended.outputs["report-path"]).read_text()
    body, check = gh.comments_on(pull["number"])[0]["body"], check_on(gh, pull["head"]["sha"])
    assert all(f"name-{number}` |" in report for number in range(1, 401))
    assert "more in verdict.json" in body
    assert len(body) <= 65_536
    assert len(check["output"]["text"]) <= 65_535
    assert len(ended.summary.encode()) <= 1024 * 1024


@pytest.mark.parametrize(("wish", "conclusion"), [("neutral", "neutral"), ("success", "success"), ("failure", "failure")])
def test_gate__no_baseline_concludes_as_wished(acting, gh, wish, conclusion):
    """Without a baseline the check concludes as the input `no-baseline` says (P111)."""
    pull = gh.pull()
    acting.suite()
    acting.act(events.pull_request(gh, pull), inputs={"no-baseline": wish})
    assert check_on(gh, pull["head"]["sha"])["conclusion"] == conclusion


def test_gate__report_only_is_neutral_and_says_what_would_fail(acting, gh, baseline):
    """Report-only keeps the word, exits 0, concludes neutral, and says that it would fail (P119)."""
    baseline()
    pull = gh.pull()
    acting.suite(bad=[1])
    ended = acting.act(events.pull_request(gh, pull), inputs={"report-only": "True"})
    assert (ended.code, ended.word, ended.outputs["exit-code"]) == (0, "regressed", "0")
    assert check_on(gh, pull["head"]["sha"])["conclusion"] == "neutral"
    assert "would fail" in ended.summary


def test_gate__locked_conversation_is_no_matter_of_permissions(acting, gh, baseline):
    """On a locked pull request the warning says that it is locked, and advises no permission."""
    baseline()
    pull = gh.pull()
    pull["locked"] = True
    ended = acting.act(events.pull_request(gh, pull))
    assert ended.word == "passed"
    assert "unlock it" in ended.log
    assert "pull-requests: write" not in ended.log


def test_gate__advises_an_acceptance_that_works(acting, gh, baseline):
    """On a pull request the advice is to accept the regressions alone where something got worse, and the whole run where there is no baseline yet."""
    first = gh.pull()
    acting.suite(bad=[2])
    run = acting.act(events.pull_request(gh, first))
    assert "gh workflow run accept-baseline.yml" in run.summary
    assert "only=regressions" not in run.summary
    acting.upload(run)
    baseline()
    acting.suite(bad=[2])
    assert "-f only=regressions" in acting.act(events.pull_request(gh, gh.pull("second"))).summary


def test_gate__an_apps_token_edits_its_comment(acting, gh, baseline):
    """With a token of an app and without a check run, the second push edits the comment of the first, and posts none (P82)."""
    baseline()
    gh.tokens["app-token"] = Token(login="my-app[bot]")
    pull = gh.pull()
    for method in ("POST", "PATCH"):
        gh.seen.clear()
        acting.suite(bad=[1] if method == "PATCH" else [])
        acting.act(events.pull_request(gh, pull), token="app-token", inputs={"check": "false"})
        assert [call.method for call in gh.writes() if "comments" in call.path] == [method]


@pytest.fixture
def two_accepted(acting, gh):
    """Accepted baselines of the suites `a` and `b`, of one acceptance, in either store."""

    def make(store="artifact", **b):
        acting.suite("a")
        acting.suite("b", **b)
        run = acting.upload(acting.act(events.push(gh)))
        ended = acting.accepted(events.dispatch(gh), run=run, **{"baseline-store": store})
        assert ended.word == "accepted", ended.log
        shutil.rmtree(acting.workspace / "eval-results", ignore_errors=True)

    return make


@pytest.mark.parametrize("store", ["artifact", "directory"])
@pytest.mark.parametrize(("policy", "expected"), [("warn", ("passed", "success")), ("fail", ("regressed", "failure"))])
def test_gate__an_accepted_suite_that_is_gone_is_named_and_judged(acting, gh, two_accepted, store, policy, expected):
    """A deleted suite stands in comment, check title and verdict.json, and follows the accepted `removed_cases` (P82)."""
    two_accepted(store, gate={"removed_cases": policy})
    (acting.workspace / "evals/b.eval.yaml").unlink()
    pull = gh.pull()
    ended = acting.act(events.pull_request(gh, pull), inputs={"baseline-store": store})
    check = list(gh.checks.values())[-1]
    assert (ended.word, check["conclusion"]) == expected
    assert "not there any more: b" in check["output"]["title"]
    assert "not there any more: `b`" in gh.comments_on(pull["number"])[-1]["body"]
    assert [(suite["suite"], suite["verdict"], [reason["code"] for reason in suite["reasons"]]) for suite in ended.verdict["suites"]][1] == ("b", expected[0], ["SUITE_REMOVED"])


@pytest.mark.parametrize("store", ["artifact", "directory"])
def test_gate__the_only_suite_under_another_name__is_no_silent_first_run(acting, gh, store):
    """Renaming the one accepted suite leaves nothing to compare with: the baseline under its old name is named beside `no_baseline`, in either store."""
    acting.suite("old")
    run = acting.upload(acting.act(events.push(gh)))
    assert acting.accepted(events.dispatch(gh), run=run, **{"baseline-store": store}).word == "accepted"
    shutil.rmtree(acting.workspace / "eval-results", ignore_errors=True)
    (acting.workspace / "evals/old.eval.yaml").unlink()
    acting.suite("new")
    pull = gh.pull()
    ended = acting.act(events.pull_request(gh, pull), inputs={"baseline-store": store})

    assert [(suite["suite"], suite["verdict"]) for suite in ended.verdict["suites"]] == [("new", "no_baseline"), ("old", "passed")]
    assert "not there any more: `old`" in gh.comments_on(pull["number"])[-1]["body"]
    assert "not there any more: old" in list(gh.checks.values())[-1]["output"]["title"]


def test_gate__the_only_suite_under_another_name__follows_the_accepted_policy(acting, gh):
    """Where the accepted policy fails on removed cases, a renamed suite is red, whatever strangers' runs of the same workflow file there are."""
    acting.suite("old", gate={"removed_cases": "fail"})
    assert acting.accepted(events.dispatch(gh), run=acting.upload(acting.act(events.push(gh)))).word == "accepted"
    for _ in range(12):
        gh.run("pull_request")
    (acting.workspace / "evals/old.eval.yaml").unlink()
    acting.suite("new")

    assert acting.act(events.pull_request(gh, gh.pull())).word == "regressed"


def test_gate__nothing_accepted_ever__is_asked_for_once(acting, gh):
    """Before the first acceptance one call finds that there is none, and the run is an ordinary first one."""
    acting.suite()
    ended = acting.act(events.pull_request(gh, gh.pull()))

    assert (ended.word, len(ended.verdict["suites"])) == ("no_baseline", 1)
    assert sum("/actions/workflows/" in call.path for call in gh.seen) == 1


def test_gate__a_suite_that_was_not_asked_for_is_not_missed(acting, gh, two_accepted):
    """A job of a matrix that names other files says nothing of the suites of its neighbours."""
    two_accepted()
    ended = acting.act(events.pull_request(gh, gh.pull()), inputs={"suite": "evals/a*.eval.yaml"})
    assert (ended.word, len(ended.verdict["suites"])) == ("passed", 1)


def test_gate__what_else_was_accepted_is_asked_once(acting, gh, two_accepted):
    """Asking what else was accepted is one call for the whole run."""
    two_accepted()
    gh.seen.clear()
    acting.act(events.pull_request(gh, gh.pull()))
    assert sum(call.path.endswith("/artifacts") and "/runs/" in call.path for call in gh.seen) == 1


def test_gate__records_that_were_there_before_are_not_uploaded(acting, gh):
    """A committed record, or that of an earlier step, is set aside before anything is measured, and is not lost."""
    acting.suite("a")
    acting.suite("b")
    event = events.push(gh)
    first = acting.act(event, inputs={"key": "ka", "suite": "evals/a.eval.yaml"})
    acting.act(event, run=first.run, inputs={"key": "kb", "suite": "evals/b.eval.yaml"})
    results = acting.workspace / "eval-results"
    assert [path.parent.name for path in results.glob("[!.]*/record.json")] == ["b"]
    assert (results / ".earlier/a/record.json").is_file()


@pytest.mark.parametrize("secret", ["no_baseline", "000000", "verdict"])
def test_gate__a_secret_that_is_a_word_of_ours(gh, acting, secret):
    """A secret that happens to be a verdict, a key or digits leaves verdict.json as it is."""
    acting.suite()
    ended = acting.act(events.push(gh), MODEL_KEY=secret)
    assert (ended.code, ended.word) == (0, "no_baseline")
    assert ended.verdict["verdict"] == ended.suite["verdict"] == "no_baseline"


def test_gate__a_file_whose_name_is_not_utf8(gh, acting):
    """A suite in a file with a name of stray bytes is judged like any other; a question mark stands for what cannot be spelled."""
    suite = acting.suite()
    suite.rename(suite.with_name("a\udcff.eval.yaml"))
    ended = acting.act(events.push(gh))
    assert (ended.code, ended.word) == (0, "no_baseline"), ended.log
    assert ended.suite["file"].endswith("a?.eval.yaml")


def test_gate__the_footer_leads_once_to_what_the_words_mean(gh, acting):
    """Comment and summary link the page of the very version of the Action that runs; a ref cannot end the link, and an Action of a folder has no such page."""
    acting.suite()
    pull = gh.pull()
    ended = acting.act(events.pull_request(gh, pull), EVAL_GATE_ACTION_REPOSITORY="org/gate", EVAL_GATE_ACTION_REF="v1) @all <b>")

    for shown in (gh.comments_on(pull["number"])[-1]["body"], ended.summary):
        assert shown.count("docs/words.md") == 1
        assert ", [what the words mean](https://github.test/org/gate/blob/v1%29%20%40all%20%3Cb%3E/docs/words.md)" in shown
    for repository in ("", "org/gate) @all", "org/gate/../x"):
        assert "words.md" not in acting.act(events.pull_request(gh, pull), EVAL_GATE_ACTION_REPOSITORY=repository, EVAL_GATE_ACTION_REF="v1").summary


@pytest.mark.parametrize("broken", [False, True])
def test_gate__a_record_that_the_system_left_of_another_suite__is_not_uploaded(gh, acting, broken):
    """What appears while the run measures and is none of its own would be accepted as measured: it is removed, and the log says so, also where the run is refused."""
    acting.suite("other")
    event = events.push(gh)
    acting.act(event, inputs={"suite": "evals/other.eval.yaml"})
    results = acting.workspace / "eval-results"
    (results / "other").rename(acting.workspace / "forged")
    (acting.workspace / "evals/other.eval.yaml").unlink()
    hurt = " && echo '{}' >eval-results/bot/cases/zzz.json" if broken else ""
    command = f"cp -r forged eval-results/other{hurt} && echo yes"
    case = {"id": "a", "input": "x", "checks": [{"type": "equals", "value": "yes"}]}
    document = {"version": 1, "name": "bot", "target": {"exec": {"command": ["sh", "-c", command], "protocol": "text"}}, "cases": [case]}
    (acting.workspace / "evals/bot.eval.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    ended = acting.act(event, inputs={"suite": "evals/bot.eval.yaml"})

    assert ended.word == ("config_error" if broken else "no_baseline")
    assert [path.parent.name for path in results.glob("[!.]*/record.json")] == ([] if broken else ["bot"])
    assert "the record in other appeared while this run measured" in ended.log
