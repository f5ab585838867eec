"""Types of the settings of a web site: URLs, path patterns, rates, headers and networks."""

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Text

_URL = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)
REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""A reference to an environment variable, and the name of the variable."""
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _site_url(url: str) -> str:
    if not _URL.fullmatch(url) or "@" in url.split("/")[2]:
        raise PydanticCustomError("site_url", "a site's URL begins with http:// or https:// and names no user")
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0  # reading the port checks it
    except ValueError:
        usable = False
    if not usable:
        raise PydanticCustomError("site_url", "its host or its port cannot be one")
    return url


def _path_pattern(pattern: str) -> str:
    """Return a pattern in the form that matches paths: `docs/` becomes `/docs/**`."""
    pattern = pattern if pattern.startswith(("/", "**")) else f"/{pattern}"
    return f"{pattern}**" if pattern.endswith("/") else pattern


def _proxy(proxy: str) -> str:
    if proxy == "none":
        return proxy
    if not _URL.fullmatch(proxy) or not urlsplit(proxy).hostname:
        raise PydanticCustomError("proxy", "a proxy is a URL of http or https, or the word none")
    return proxy


def _rate(rate: Any) -> Any:
    return None if rate == "unlimited" else rate


def _header_name(name: str) -> str:
    if not _HEADER.fullmatch(name):
        raise PydanticCustomError("header", "a header's name holds letters, digits and hyphens")
    return name


def _header_value(value: str) -> str:
    if any(ord(letter) < 32 and letter != "\t" for letter in value):
        raise PydanticCustomError("header", "a header's value is one line")
    return value


def _network(network: Any) -> Any:
    try:
        return network if not isinstance(network, str) else ip_network(network, strict=False)
    except ValueError:
        raise PydanticCustomError("network", "this is no network") from None


SiteUrl = Annotated[Text, AfterValidator(_site_url)]
ProxyUrl = Annotated[Text, AfterValidator(_proxy)]
PathPattern = Annotated[Text, AfterValidator(_path_pattern)]
Rate = Annotated[Annotated[float, Field(gt=0, le=1000)] | None, BeforeValidator(_rate)]
HeaderName = Annotated[Text, AfterValidator(_header_name)]
HeaderValue = Annotated[Text, AfterValidator(_header_value)]
Network = Annotated[IPv4Network | IPv6Network, BeforeValidator(_network), PlainSerializer(str)]
