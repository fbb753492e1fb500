"""Which files the words of a command line mean."""

from __future__ import annotations

import pytest

from evalaction.datasets.paths import means


@pytest.mark.parametrize(
    ("word", "file", "meant"),
    [
        ("evals", "evals/x/b.eval.yaml", True), ("evals/**/*.eval.yaml", "evals/b.eval.yaml", True), (".", "b.eval.yaml", True), ("evals/a.eval.yaml", "evals/b.eval.yaml", False),
        ("./evals/", "evals/.h/b.eval.yaml", False), ("evals", "other/b.eval.yaml", False), ("*.yaml", "../b.yaml", False), ("evals/*.eval.yaml", "evals/x/b.eval.yaml", False),
    ],
)  # fmt: skip
def test_means__a_file_that_is_not_there(word, file, meant):
    """A folder means all suites below, a glob what it matches, and a word that names a file no other one."""
    assert means([word], file) is meant
