"""The embedding model of `similarity` checks: the weights that come with the package wordllama. The only importer of numpy, safetensors and tokenizers.

Its files are read here, and its code is not run: that would look for one of them in a folder which the package does not have,
then download it, and would set up logging for the whole process.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evalaction.core.specs import Similarity
from evalaction.core.suite import Suite
from evalaction.errors import ConfigError, MeasureError

PACKAGE = "wordllama"
MODEL = "l2_supercat_256"
TEXT_LIMIT = 200_000
"""Characters of one text. The likeness of less than all of it could pass what it should fail, so a longer one is an error."""
_WEIGHTS = (f"weights/{MODEL}.safetensors",)
_TOKENIZER = ("tokenizers/l2_supercat_tokenizer_config.json", "tokenizer/l2_supercat_tokenizer_config.json")
_TENSOR = "embedding.weight"
_DIGITS = 6
"""Of a likeness, so that the last bits of another processor's arithmetic make no difference."""


def build_embedder(suite: Suite) -> Embedder | None:
    """The embedder of a suite, None when no case has a `similarity` check. Raises ConfigError INVALID_INPUT without the extra."""
    needed = any(isinstance(check, Similarity) for case in suite.cases for check in case.checks)
    return load_embedder() if needed else None


@functools.cache
def load_embedder() -> Embedder:
    """The embedder, loaded once. Raises ConfigError INVALID_INPUT when the package or one of its files is not there."""
    found = importlib.util.find_spec(PACKAGE)
    try:
        import numpy as np  # noqa: F401, PLC0415 - half a second in all, and only suites with such checks pay it
        from safetensors.numpy import load_file  # noqa: PLC0415 - as above
        from tokenizers import Tokenizer  # noqa: PLC0415 - as above
    except ImportError:
        found = None
    if found is None or not found.submodule_search_locations:
        raise _refusal(f"the package {PACKAGE} is not installed, and `similarity` checks ask its model")
    root = Path(found.submodule_search_locations[0])
    weights, tokenizer = _file(root, _WEIGHTS), _file(root, _TOKENIZER)
    try:
        return Embedder(load_file(weights)[_TENSOR], Tokenizer.from_file(str(tokenizer)), importlib.metadata.version(PACKAGE))
    except Exception as error:  # noqa: BLE001 - both libraries raise errors of their own making for a broken file
        raise _refusal(f"the model of the package {PACKAGE} cannot be read: {type(error).__name__}") from None


def _file(root: Path, names: Iterable[str]) -> Path:
    for name in names:
        if (root / name).is_file():
            return root / name
    raise _refusal(f"the package {PACKAGE} has come without {next(iter(names))}")


def _refusal(what: str) -> ConfigError:
    return ConfigError.one("INVALID_INPUT", what, "pip install 'eval-gate[similarity]'", path="similarity")


class Embedder:
    """Texts as vectors: the mean of the vectors of their tokens. `embedding` has shape (tokens, dimensions); `tokenizer` is one of the package tokenizers."""

    def __init__(self, embedding: Any, tokenizer: Any, version: str) -> None:
        self._embedding, self._tokenizer = embedding, tokenizer
        self.name = f"{PACKAGE} {version} {MODEL}"
        self._kept = functools.lru_cache(maxsize=1024)(self._vector)

    def likeness(self, expected: str, text: str) -> float:
        """The cosine of two texts, a negative one as 0, to six decimals; 1 for equal texts.

        Raises MeasureError SCORER_FAILED for a text of more than 200,000 characters.
        """
        if expected == text:
            return 1.0
        first, second = self._kept(expected), self._vector(text)
        if first is None or second is None:
            return 0.0
        return round(min(1.0, max(0.0, float(first @ second))), _DIGITS)

    def _vector(self, text: str) -> Any:
        """The direction of a text, None of one without tokens. Each token is looked up once, so that a long text needs little memory."""
        import numpy as np  # noqa: PLC0415 - loaded already where there is an embedder

        if len(text) > TEXT_LIMIT:
            raise MeasureError("SCORER_FAILED", f"a text of {len(text):,} characters cannot be compared by its meaning, {TEXT_LIMIT:,} at the most")
        ids = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False).ids
        tokens, counts = np.unique(np.clip(np.array(ids, dtype=np.int64), 0, len(self._embedding) - 1), return_counts=True)
        total = counts.astype(np.float64) @ self._embedding[tokens].astype(np.float64)
        length = float(np.linalg.norm(total))
        return total / length if length else None
