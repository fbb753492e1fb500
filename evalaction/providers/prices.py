"""What models cost. The table is a file beside this one; a file of the user's own, named by EVAL_GATE_PRICES, goes before it."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evalaction.core.answer import LARGEST
from evalaction.core.model import model as stated
from evalaction.core.scalars import Tolerance
from evalaction.errors import ConfigError, Fault

VARIABLE = "EVAL_GATE_PRICES"
_DATED = re.compile(r"[-@]?(?:20\d{6}|20\d\d-\d\d-\d\d|latest)$")
"""A release date at the end of a model's name: `claude-sonnet-4-5-20250929`, `gpt-4o-2024-08-06`."""


@stated
class Price:
    """US dollars per million tokens."""

    input: Tolerance
    output: Tolerance

    def cost_usd(self, tokens_in: int, tokens_out: int) -> float | None:
        """US dollars for so many tokens; None when that is more than one answer can have cost, so that the counts cannot be right."""
        cost = (tokens_in * self.input + tokens_out * self.output) / 1_000_000
        return cost if cost <= LARGEST["cost_usd"] else None


@dataclasses.dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model."""

    by_model: Mapping[str, Price]

    def of(self, model: str) -> Price | None:
        """The price of a model, under its name as it stands or without its release date; None when it is not known."""
        return self.by_model.get(model) or self.by_model.get(undated(model))


def undated(model: str) -> str:
    """The name of a model without its release date."""
    return _DATED.sub("", model)


def read_prices(environment: Mapping[str, str], cwd: Path) -> Prices:
    """The table that comes with the program, with the user's own entries over it.

    EVAL_GATE_PRICES names a JSON file `{"model": {"input": 3.0, "output": 15.0}}`, relative to the working directory.
    Raises ConfigError: FILE_NOT_FOUND, MALFORMED_JSON, INVALID_VALUE.
    """
    own = json.loads(files("evalaction.providers").joinpath("prices.json").read_text(encoding="utf-8"))
    name = environment.get(VARIABLE, "").strip()
    return Prices({model: Price(**price) for model, price in own.items()} | (_read(cwd / name, name) if name else {}))


def _read(path: Path, name: str) -> dict[str, Price]:
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        what = f"the price table cannot be read: {error.strerror or type(error).__name__}"
        raise ConfigError.one("FILE_NOT_FOUND", what, f"correct {VARIABLE}, or unset it", file=name) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError.one("MALFORMED_JSON", f"the price table is not JSON: {error}", "write a JSON object", file=name) from None
    try:
        return TypeAdapter(dict[str, Price]).validate_python(found)
    except ValidationError as errors:
        fix = 'write {"model": {"input": 3.0, "output": 15.0}}, in US dollars per million tokens'
        raise ConfigError(Fault(code="INVALID_VALUE", what=one["msg"], fix=fix, file=name, path=".".join(map(str, one["loc"]))) for one in errors.errors()) from None
