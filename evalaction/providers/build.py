"""From the name of a provider to the model that is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from evalaction.errors import ConfigError
from evalaction.providers.base import Endpoint, Provider, Vendor
from evalaction.providers.prices import read_prices


def open_provider(endpoint: Endpoint, *, environment: Mapping[str, str], cwd: Path) -> Provider:
    """A model that can be asked; nothing is called yet. Imports the vendor's SDK.

    Raises ConfigError: INVALID_VALUE for a `base_url` that is no address, MISSING_SECRET naming the variable of the key, INVALID_INPUT when the SDK is not installed, and
    what is wrong with a price table of the user's own.
    """
    _check_address(endpoint)
    prices = read_prices(environment, cwd)
    if endpoint.provider == "anthropic":
        from evalaction.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - only the vendor in use is loaded

        return AnthropicProvider(endpoint, environment, prices)
    from evalaction.providers.openai import OpenAIProvider  # noqa: PLC0415 - only the vendor in use is loaded

    return OpenAIProvider(endpoint, environment, prices)


def address_of(provider: Vendor, base_url: str | None, environment: Mapping[str, str]) -> str:
    """Where a model of this provider is asked: the address named, else that of the vendor's own variable; blank for the vendor's public one."""
    return base_url or environment.get(f"{provider.upper()}_BASE_URL") or ""


def _check_address(endpoint: Endpoint) -> None:
    """Without this an address that is none looks like an outage, and is tried again and again."""
    try:
        parts = urlsplit(endpoint.base_url or "http://default")
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:  # a bracket or a port that no address has
        is_address = False
    if not is_address:
        what = f"the `base_url` of {endpoint.provider}:{endpoint.model} is no http or https address"
        raise ConfigError.one("INVALID_VALUE", what, "write the root of the API, such as http://127.0.0.1:8080/v1")
