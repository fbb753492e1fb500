"""The decorator of all validated types."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys

import pytest
from pydantic import ValidationError

from evalaction.core.model import default_of
from evalaction.core.record import CheckResult, Selection, Shard
from evalaction.core.specs import ContainsAll
from evalaction.core.suite import Policy


def test_model__is_a_value_like_any_frozen_dataclass():
    """Equal fields make equal values with equal hashes; another type or another field makes a different one."""
    one, other = Shard(index=1, of=3), Shard(index=1, of=3)
    assert one == other
    assert hash(one) == hash(other)
    assert one != Shard(index=2, of=3)
    assert one != (1, 3)
    assert repr(one) == "Shard(index=1, of=3)"


@pytest.mark.parametrize("change", [lambda shard: setattr(shard, "index", 2), lambda shard: setattr(shard, "other", 2), lambda shard: delattr(shard, "of")])
def test_model__cannot_be_changed(change):
    """What was measured stays as it was: neither fields nor other attributes can be set or deleted."""
    shard = Shard(index=1, of=3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        change(shard)
    assert shard == Shard(index=1, of=3)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_model__copies_are_equal(copied):
    """Copies keep every field, values of models in them too."""
    selection = Selection(filter="a*", shard=Shard(index=1, of=3))
    assert copied(selection) == selection


@pytest.mark.parametrize("stated", [{"score": 1.5}, {"score": float("nan")}, {"score": None}, {"other": 1}])
def test_model__constructor_validates__though_built_late(stated):
    """A validator that is built at its first use refuses what it always refused."""
    with pytest.raises(ValidationError):
        CheckResult(**{"id": "a", "score": 1.0, "passed": True, **stated})


@pytest.mark.parametrize(("made", "same"), [(default_of(Policy), Policy()), (default_of(ContainsAll, value=("x",)), ContainsAll(value=("x",)))])
def test_default_of__gives_what_the_constructor_gives(made, same):
    """Defaults, also those made by a factory, are the same without validation."""
    assert made == same


def test_model__is_built_from_its_own_names__whoever_needs_it_first():
    """A caller whose variables are called like the types of a field, here `Fraction`, does not change what the field takes."""
    script = """if True:
        from fractions import Fraction
        from evalaction.core.specs import Equals
        Word = Flag = int
        print(Equals(value="text", threshold=0.5))
        try:
            Equals(value="text", threshold=1.5)
        except ValueError as error:
            print(error.errors()[0]["type"])
    """

    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)

    assert "value='text'" in done.stdout
    assert "less_than_equal" in done.stdout
