"""What models cost, by the table and by a file of the user's own."""

import json

import pytest

from evalaction.errors import ConfigError
from evalaction.providers.prices import read_prices


def test_price__a_release_date_does_not_hide_a_model():
    """A dated name has the price of the model, an unknown one has none."""
    prices = read_prices({}, None)
    plain = prices.of("claude-sonnet-4-5")
    assert plain is not None
    assert (prices.of("claude-sonnet-4-5-20250929"), prices.of("gpt-4o-2024-08-06")) == (plain, prices.of("gpt-4o"))
    assert prices.of("claude-sonnet-4-5-preview") is None


def test_price__is_per_million_tokens_in_and_out():
    """A million tokens in and two million out of Claude Sonnet 4.5 cost 3 and 30 dollars."""
    assert read_prices({}, None).of("claude-sonnet-4-5").cost_usd(1_000_000, 2_000_000) == pytest.approx(33.0)


def test_price__a_file_of_the_users_own_goes_first(tmp_path):
    """EVAL_GATE_PRICES adds models and replaces prices; the rest of the table stays."""
    (tmp_path / "p.json").write_text(json.dumps({"home-made": {"input": 1, "output": 2}, "gpt-4o": {"input": 0, "output": 0}}))
    prices = read_prices({"EVAL_GATE_PRICES": "p.json"}, tmp_path)
    assert prices.of("home-made").cost_usd(10**6, 10**6) == 3.0
    assert prices.of("gpt-4o").cost_usd(10**6, 10**6) == 0.0
    assert prices.of("gpt-4o-mini") is not None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (None, "FILE_NOT_FOUND"), ("{", "MALFORMED_JSON"), ("[]", "INVALID_VALUE"), ('{"m": 3}', "INVALID_VALUE"), ('{"m": {"input": 1}}', "INVALID_VALUE"),
        ('{"m": {"input": -1, "output": 1}}', "INVALID_VALUE"), ('{"m": {"input": NaN, "output": 1}}', "INVALID_VALUE"), ('{"m": {"input": "1", "output": 1}}', "INVALID_VALUE"),
    ],
)  # fmt: skip
def test_price__a_table_that_cannot_be_read_is_a_configuration_error(tmp_path, text, code):
    """A missing file, no JSON, or prices that are none are refused with their file."""
    if text is not None:
        (tmp_path / "p.json").write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_prices({"EVAL_GATE_PRICES": "p.json"}, tmp_path)
    assert {(fault.code, fault.file) for fault in caught.value.faults} == {(code, "p.json")}
