"""Names of artifacts."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from evalaction.github.names import baseline_name, clean, results_name


def test_names__clean_key_stays_as_it_is():
    """A job's id is a name already."""
    assert (results_name("my_job-0", 2), baseline_name("support-bot")) == ("eval-gate-results-my_job-0-2", "eval-gate-baseline-support-bot")


def test_names__keys_that_look_alike_stay_apart():
    """`rag/prod` and `rag-prod` give two names (P86)."""
    assert clean("rag/prod") != clean("rag-prod")


@given(st.text(max_size=300))
def test_names__any_key_gives_a_name_that_github_takes(key):
    """No character that artifacts refuse, whatever the key."""
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,120}", clean(key)) or not key


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_names__different_keys_give_different_names(one, other):
    """Two keys share a name only when they are one key."""
    assert (clean(one) == clean(other)) == (one == other)
