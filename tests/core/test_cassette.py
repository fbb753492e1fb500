"""The tape in memory: what is found, what is missed, what is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.cassette import Exchange, Key, Slot, Tape, without_credentials
from evalaction.core.masking import Masker
from evalaction.core.suite import Case
from evalaction.errors import MeasureError

CASE = Case(id="a", input="hello", checks=())
KEY = Key(case="c", settings="s", endpoint="http://host", request="r")


def exchange(case="a", repeat=0, kind="target", number=0, key=KEY, **reply):
    """One exchange."""
    return Exchange(case=case, repeat=repeat, kind=kind, number=number, reply=reply, key=key)


def other(**parts):
    """The key with other parts."""
    return Key(**{**{name: getattr(KEY, name) for name in ("case", "settings", "endpoint", "request")}, **parts})


def missed(tape, slot, key=KEY):
    """What is said of a question that is not on the tape."""
    with pytest.raises(MeasureError) as caught:
        tape.find(slot, key)
    assert caught.value.code == "NOT_RECORDED"
    return caught.value.message


def test_find__counts_what_is_replayed_by_its_kind():
    """The reply of just this slot and key is given, and counted."""
    tape = Tape([exchange(output="one"), exchange(repeat=1, output="two"), exchange(kind="judge", text="fine")])
    assert [tape.find(Slot("a", repeat), KEY) for repeat in (0, 1)] == [{"output": "one"}, {"output": "two"}]
    assert tape.find(Slot("a", 0, "judge"), KEY) == {"text": "fine"}
    assert (tape.replayed, tape.failure) == ({"target": 2, "judge": 1}, None)


@pytest.mark.parametrize(("slot", "key", "said"), [
    (Slot("b", 0), KEY, "no answer for case b, run 0: nothing is recorded for this case"),
    (Slot("a", 2), KEY, "no answer for case a, run 2: recorded are the runs 0, 1"),
    (Slot("a", 0), other(request="x"), "another one is recorded, and the request differs"),
    (Slot("a", 0), other(settings="x", request="x"), "the settings and the request differ"),
    (Slot("a", 0), other(case="x", request="x"), "the case's input, history or variables differs"),
    (Slot("a", 0), other(endpoint=""), "the endpoint (http://host was recorded, asked is the default) differs"),
    (Slot("a", 0, "judge", 1), KEY, "no verdict for case a, run 0, vote 1: fewer votes are recorded"),
    (Slot("a", 0, "reference"), KEY, "no rows of the reference query for case a"),
])  # fmt: skip
def test_miss__says_which_part_differs(slot, key, said):
    """The nearest recorded exchange of the case is compared part by part."""
    tape = Tape([exchange(), exchange(repeat=1), exchange(kind="judge")])
    assert said in missed(tape, slot, key)
    assert tape.failure.code == "NOT_RECORDED"


def test_failure__is_the_same_in_whatever_order_was_asked():
    """The first case in the order of the file is named, with how many more there are."""
    tapes = [Tape([]) for _ in range(2)]
    for tape, order in zip(tapes, ("ab", "ba"), strict=True):
        for name in order:
            missed(tape, Slot(name, 0))
    assert tapes[0].failure == tapes[1].failure
    assert "case a" in tapes[0].failure.message
    assert "and 1 more" in tapes[0].failure.message


def test_exchanges__hold_what_was_there_and_what_is_new():
    """A new reply stands in for the old one under the same key; what was not used goes only when that is asked for."""
    tape = Tape([exchange(output="old")], [exchange(output="old"), exchange("z", output="kept")], records=True)
    tape.find(Slot("a", 0), KEY)
    assert tape.find(Slot("b", 0), KEY) is None
    tape.record(Slot("b", 0), KEY, {"output": "new"})
    assert [(one.case, one.reply["output"]) for one in tape.exchanges()] == [("a", "old"), ("b", "new"), ("z", "kept")]
    assert [one.case for one in tape.exchanges(used_only=True)] == ["a", "b"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.sampled_from(["target", "judge", "reference"]), st.sampled_from("xyz")), unique=True))
def test_exchanges__have_one_order_whatever_came_first(slots):
    """The file does not depend on which call ended first."""
    orders = []
    for ordered in (slots, slots[::-1]):
        tape = Tape(records=True)
        for case, repeat, kind, request in ordered:
            tape.record(Slot(case, repeat, kind), other(request=request), {"output": case})
        orders.append(tape.exchanges())
    assert orders[0] == orders[1]


def test_key__does_not_depend_on_a_secret():
    """Requests that differ in a secret alone have one key, and any other difference makes another."""
    secrets = ("first-012345", "second-6789")
    masked = [Tape(mask=Masker([one]).json).key(CASE, {"key": one}, f"http://u:{one}@host/?k={one}", {"h": f"Bearer {one}"}) for one in secrets]
    plain = Tape().key(CASE, {"key": "x"}, "http://host", {"h": "Bearer x"})
    assert masked[0] == masked[1] != plain
    assert masked[0].endpoint == "http://host/"


def test_reply__nested_too_deeply_is_not_recorded():
    """What could not be read back would spoil the whole file; it is named instead."""
    deep = {"output": []}
    for _ in range(200):
        deep = {"output": deep}
    tape = Tape(records=True)
    tape.record(Slot("a", 0), KEY, deep)
    assert (tape.exchanges(), tape.unrecorded) == ([], ["a"])


@pytest.mark.parametrize(("address", "bare"), [("https://u:p@h:1/v1?k=1#f", "https://h:1/v1"), ("", ""), ("http://h", "http://h")])
def test_address__is_kept_without_what_may_be_secret(address, bare):
    """User name, query and fragment go."""
    assert without_credentials(address) == bare
