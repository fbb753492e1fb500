"""The local embedding model: agrees with its own library, keeps its bounds, and needs no network."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.core.specs import Similarity
from evalaction.core.suite import Case, ExecTarget, Policy, Suite
from evalaction.embedding.embedder import build_embedder, load_embedder
from evalaction.errors import ConfigError, MeasureError

pytest.importorskip("wordllama", reason="the extra `similarity` (package wordllama) is not installed")
TEXTS = [
    "The refund window is 30 days.", "You can return it within thirty days.", "Bananas are yellow.", "ÄÖÜ straße 漢字 👩\u200d💻", "x", "\x00\x01", "<s></s><unk>", "a" * 3000,
    "The refund window is not 30 days.",
]  # fmt: skip
ALONE = """
import sys
seen = []
sys.addaudithook(lambda event, args: seen.append(event) if event.startswith(("socket.", "urllib.", "http.")) or (event == "open" and "w" in str(args[1])) else None)
from evalaction.embedding.embedder import load_embedder
print(load_embedder().likeness("a cat sat", "the cat sits"))
print(seen)
print([name for name in ("wordllama", "requests", "huggingface_hub") if name in sys.modules])
"""


@pytest.fixture(scope="module")
def embedder():
    """The model, loaded once."""
    return load_embedder()


@pytest.fixture(scope="module")
def library():
    """The model as its own library computes it, its files named by hand; what its import does to the root logger is undone."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    import wordllama

    root.handlers[:] = before
    root.setLevel(level)
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


@pytest.mark.parametrize("first", TEXTS)
def test_likeness__is_the_librarys_cosine(embedder, library, first):
    """Every pair has the cosine of the library that the weights come from, negative ones as 0."""
    for second in TEXTS:
        assert embedder.likeness(first, second) == pytest.approx(max(0.0, library.similarity(first, second)), abs=2e-5)


def test_likeness__tells_a_paraphrase_from_another_subject(embedder):
    """A paraphrase passes the default threshold, another subject is far from it."""
    assert embedder.likeness(TEXTS[0], TEXTS[1]) >= 0.5
    assert embedder.likeness(TEXTS[0], TEXTS[2]) < 0.1


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_likeness__of_any_two_texts_is_symmetric_bounded_and_the_same_again(first, second):
    """0..1 for any two texts, lone surrogates and control characters included; order and repetition change nothing; a text is like itself."""
    model = load_embedder()
    found = model.likeness(first, second)
    assert 0 <= found <= 1
    assert found == model.likeness(first, second) == model.likeness(second, first)
    assert model.likeness(first, first) == 1


def test_likeness__of_a_text_without_tokens_is_zero(embedder):
    """Nothing is like an empty text but another one."""
    assert (embedder.likeness("", "x"), embedder.likeness("x", ""), embedder.likeness("", "")) == (0, 0, 1)


def test_likeness__of_a_huge_text_is_an_error_and_no_score(embedder):
    """A text that cannot be looked at as a whole has no likeness."""
    with pytest.raises(MeasureError) as caught:
        embedder.likeness("x", "word " * 50_000)
    assert caught.value.code == "SCORER_FAILED"


def test_process__opens_no_socket_writes_no_file_and_runs_no_code_of_the_package():
    """A fresh process scores a pair without a single network event or file written, and without the modules that could download."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", ALONE], capture_output=True, text=True, check=True, timeout=60, cwd=Path(__file__).parents[2])
    score, events, modules = done.stdout.splitlines()
    assert (0.3 < float(score) < 1, events, modules, done.stderr) == (True, "[]", "[]", "")


def suite(*checks):
    """A suite of one case."""
    return Suite(name="s", key="s", gate=Policy(), file="s.eval.yaml", target=ExecTarget(command="cat"), cases=(Case(id="a", input="x", checks=checks),), digest="d")


def test_build__only_where_a_check_needs_it(embedder, monkeypatch):
    """A suite without similarity checks needs no model, installed or not; one with them is refused by the name of the extra."""
    assert build_embedder(suite(Similarity(value="x"))) is embedder
    load_embedder.cache_clear()
    monkeypatch.setitem(sys.modules, "wordllama", None)
    assert build_embedder(suite()) is None
    with pytest.raises(ConfigError) as caught:
        build_embedder(suite(Similarity(value="x")))
    (fault,) = caught.value.faults
    assert (fault.code, fault.fix) == ("INVALID_INPUT", "pip install 'eval-gate[similarity]'")


@pytest.mark.parametrize("missing", ["weights", "tokenizer", "broken"])
def test_build__a_package_without_its_files_is_refused(tmp_path, monkeypatch, missing):
    """A package whose weights or tokenizer are missing or broken is said to be so, before anything is called."""
    root = tmp_path / "wordllama"
    (root / "tokenizer").mkdir(parents=True)
    (root / "weights").mkdir()
    (root / "__init__.py").touch()
    if missing != "weights":
        (root / "weights/l2_supercat_256.safetensors").write_bytes(b"no weights")
    if missing != "tokenizer":
        (root / "tokenizer/l2_supercat_tokenizer_config.json").write_text("{}")
    load_embedder.cache_clear()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    with pytest.raises(ConfigError) as caught:
        load_embedder()
    (fault,) = caught.value.faults
    words = {"weights": "without weights/", "tokenizer": "without tokenizers/", "broken": "cannot be read"}
    assert (fault.code, words[missing] in fault.what) == ("INVALID_INPUT", True)
