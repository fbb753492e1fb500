"""Model targets over the wire of both vendors."""

import asyncio
from pathlib import Path

import pytest

from evalaction.core.suite import ModelTarget, Turn
from evalaction.errors import ConfigError, TargetError
from evalaction.targets.build import build_target
from tests.vendors import KEY, VENDORS, Parts, Status, environment, told, vendors


@pytest.fixture
def start():
    """Starts a scripted model."""
    with vendors() as starter:
        yield starter


@pytest.fixture(params=VENDORS)
def vendor(request):
    """Each vendor in turn."""
    return request.param


def build(vendor, server=None, env=None, **spec):
    """A model target for a server."""
    fields = {"provider": vendor, "model": "gpt-4o", "base_url": None if server is None else server.base_url(vendor), **spec}
    return build_target(ModelTarget(**fields), environment=environment(vendor) if env is None else env, cwd=Path(), concurrency=4)


def ask(target, request):
    """The answer to one request."""

    async def go():
        try:
            return await target.ask(request)
        finally:
            await target.close()

    return asyncio.run(go())


def faults(vendor, **spec):
    """Code and place of every fault."""
    with pytest.raises(ConfigError) as caught:
        build(vendor, **spec)
    return {(fault.code, fault.path) for fault in caught.value.faults}


def test_ask__templates_are_filled_in_and_settings_sent(start, vendor, request_for):
    """System and prompt are templates over the case; temperature and the limit of tokens go with them."""
    server = start("hi")
    target = build(vendor, server, system="Tier {{ case.vars.tier }}", prompt="Q: {{ case.input }}", temperature=0.1, max_output_tokens=50)
    ask(target, request_for("a", input="why?", vars={"tier": "gold"}))
    body = server.seen[0]
    assert "Tier gold" in told(body)
    assert body["messages"][-1] == {"role": "user", "content": "Q: why?"}
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("gpt-4o", 0.1, 50)


def test_ask__text_tokens_and_cost_are_the_answers(start, vendor, request_for):
    """The answer has the text, the tokens, and the cost by the price table."""
    answer = ask(build(vendor, start("hi")), request_for())
    assert (answer.output, answer.tokens) == ("hi", (1000, 500))
    assert answer.cost_usd == pytest.approx(0.0075)


def test_ask__history_goes_as_turns_before_the_prompt(start, vendor, request_for):
    """Earlier turns keep their roles and order; system texts join the system text."""
    server = start("hi")
    history = (Turn(role="system", content="be kind"), Turn(role="user", content="one"), Turn(role="assistant", content="two"))
    ask(build(vendor, server, system="be brief"), request_for(input="three", history=history))
    turns = [(turn["role"], turn["content"]) for turn in server.seen[0]["messages"] if turn["role"] != "system"]
    assert turns == [("user", "one"), ("assistant", "two"), ("user", "three")]
    assert "be brief\n\nbe kind" in told(server.seen[0])


@pytest.mark.parametrize("prompt", ["{{ case.history }} {{ case.input }}", "{% for t in case['history'] %}{{ t.content }}{% endfor %} {{ case.input }}"])
def test_ask__a_template_that_places_the_history_gets_it_once(start, vendor, request_for, prompt):
    """History that the author writes into the prompt is not sent a second time."""
    server = start("hi")
    ask(build(vendor, server, prompt=prompt), request_for(history=(Turn(role="user", content="one-and-only"),)))
    assert len(server.seen[0]["messages"]) == 1
    assert told(server.seen[0]).count("one-and-only") == 1


def test_ask__a_role_that_models_do_not_know_fails_the_trial(start, vendor, request_for):
    """A turn of an unknown role is an error of this trial, without a call."""
    server = start("hi")
    with pytest.raises(TargetError, match="role tool"):
        ask(build(vendor, server), request_for(history=(Turn(role="tool", content="x"),)))
    assert server.seen == []


def test_ask__what_a_case_says_is_not_a_template(start, vendor, request_for):
    """An input with braces is sent as it stands."""
    server = start("hi")
    ask(build(vendor, server), request_for(input="{{ env.KEY }} {% raw %}"))
    assert server.seen[0]["messages"][-1]["content"] == "{{ env.KEY }} {% raw %}"


def test_ask__tool_calls_are_a_part_of_the_answer(start, vendor, request_for):
    """Tools that the model called can be checked."""
    parts = Parts([{"type": "tool_use", "name": "find", "input": {"q": "x"}}], {"tool_calls": [{"function": {"name": "find", "arguments": '{"q": "x"}'}}]})
    answer = ask(build(vendor, start(parts)), request_for())
    assert (answer.output, answer.tool_calls) == (None, ({"name": "find", "args": {"q": "x"}},))


def test_ask__a_refusal_is_a_part_of_the_answer(start, vendor, request_for):
    """What a model will not say is its refusal."""
    parts = Parts([{"type": "text", "text": "I cannot."}], {"content": None, "refusal": "I cannot."}, "refusal")
    assert ask(build(vendor, start(parts)), request_for()).refusal == "I cannot."


def test_ask__no_text_at_all_is_an_answer_of_nothing(start, vendor, request_for):
    """A model that says nothing answered with nothing: measured, and scored 0."""
    assert ask(build(vendor, start(None)), request_for()).is_nothing


def test_ask__errors_are_the_targets(start, vendor, request_for):
    """A server error may be asked again by the runner, as of any target."""
    target = build(vendor, start(Status(503)), retries=5)
    assert target.retries == 5
    with pytest.raises(TargetError) as caught:
        ask(target, request_for())
    assert (caught.value.code, caught.value.retryable) == ("TARGET_FAILED", True)


def test_description__says_which_model_and_holds_no_key(vendor):
    """What the record keeps of a model target."""
    text = str(build(vendor, system="s", temperature=0.2).description)
    assert "gpt-4o" in text
    assert KEY not in text


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"prompt": "{{ case.inptu }}", "system": "{{ nope }}"}, {("UNRESOLVED_VARIABLE", "model.prompt"), ("UNRESOLVED_VARIABLE", "model.system")}),
        ({"prompt": "{{ case.input "}, {("INVALID_VALUE", "model.prompt")}),
        ({"prompt": "  "}, {("BLANK_FIELD", "model.prompt")}),
        ({"system": "{{ env.GITHUB_TOKEN }}"}, {("UNRESOLVED_VARIABLE", "model.system")}),
    ],
)
def test_faults__of_templates_are_found_before_any_call(vendor, spec, expected):
    """Every fault of a template is a configuration error with its place."""
    assert faults(vendor, **spec) == expected


def test_faults__a_temperature_that_the_vendor_does_not_take():
    """Anthropic's models take 0..1."""
    assert faults("anthropic", temperature=1.5) == {("INVALID_VALUE", "model.temperature")}


def test_faults__no_key(vendor):
    """Without a key no model target is built."""
    assert {code for code, _ in faults(vendor, env={})} == {"MISSING_SECRET"}


def test_address__comes_from_the_environment(start, request_for):
    """`{{ env.X }}` in `base_url` is filled in before the call."""
    server = start("hi")
    target = build("openai", base_url="{{ env.LIVE }}", env=environment("openai", LIVE=server.base_url("openai")))
    assert ask(target, request_for()).output == "hi"


@pytest.mark.parametrize("address", ["{{ env.LIVE }}/{{ case.id }}", "{{ env.LIVE }}", "localhost:8080", "ftp://h/v1", "http://", "http://["])
def test_address__that_is_none_is_refused_before_any_call(vendor, address):
    """What speaks of a case or is no http address is a configuration error, and not an outage that is tried again."""
    with pytest.raises(ConfigError) as caught:
        build(vendor, base_url=address, env=environment(vendor, LIVE="no address"))
    assert caught.value.faults[0].code == "INVALID_VALUE"
