"""From the name of a provider to the model that is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from evalaction.core.excerpts import excerpt
from evalaction.errors import ConfigError
from evalaction.providers.base import Endpoint, Provider, Vendor
from evalaction.providers.prices import Prices, read_prices


def open_provider(endpoint: Endpoint, *, environment: Mapping[str, str], cwd: Path) -> Provider:
    """A model that can be asked; nothing is called yet. Imports the vendor's SDK.

    Raises ConfigError: INVALID_VALUE for an address that is none or an environment that no client can be made in, MISSING_SECRET naming the variable of the key,
    INVALID_INPUT when the SDK is not installed, and what is wrong with a price table of the user's own.
    """
    _check_address(endpoint, environment)
    prices = read_prices(environment, cwd)
    try:
        return _opened(endpoint, environment, prices)
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - the SDKs and their HTTP libraries refuse an environment each with errors of its own
        what = f"no connection to {endpoint.provider}:{endpoint.model} can be prepared: {excerpt(str(error) or type(error).__name__)}"
        raise ConfigError.one("INVALID_VALUE", what, "correct what the environment says of certificates (SSL_CERT_FILE, SSL_CERT_DIR), proxies, or the SDK itself") from None


def _opened(endpoint: Endpoint, environment: Mapping[str, str], prices: Prices) -> Provider:
    if endpoint.provider == "anthropic":
        from evalaction.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - only the vendor in use is loaded

        return AnthropicProvider(endpoint, environment, prices)
    from evalaction.providers.openai import OpenAIProvider  # noqa: PLC0415 - only the vendor in use is loaded

    return OpenAIProvider(endpoint, environment, prices)


def address_of(provider: Vendor, base_url: str | None, environment: Mapping[str, str]) -> str:
    """Where a model of this provider is asked: the address named, else that of the vendor's own variable; blank for the vendor's public one."""
    return base_url or environment.get(_variable(provider)) or ""


def _variable(provider: Vendor) -> str:
    return f"{provider.upper()}_BASE_URL"


def _check_address(endpoint: Endpoint, environment: Mapping[str, str]) -> None:
    """Without this an address that is none looks like an outage, and is tried again and again."""
    address = address_of(endpoint.provider, endpoint.base_url, environment)
    named = f"the `base_url` of {endpoint.provider}:{endpoint.model}" if endpoint.base_url else f"the environment variable {_variable(endpoint.provider)}"
    if address and not _is_address(address):
        raise ConfigError.one("INVALID_VALUE", f"{named} is no http or https address", "write the root of the API, such as http://127.0.0.1:8080/v1")
    if "@" in urlsplit(address).netloc:
        raise ConfigError.one("INVALID_VALUE", f"{named} holds a user name or password", "leave them out: the model is asked with the provider's key alone")


def _is_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a bracket or a port that no address has
        return False
