"""The settings of a web site as a source: `sites:` of a collection."""

import re
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import ByteCount, Duration, Settings, Text, Words

_URL = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)
_SECRET = re.compile(
    r"authoriz|authent|(^|[-_])auth([-_]|$)|cookie|token|secret|passw|credential|session|signature|(^|[-_a-z])key$",
    re.IGNORECASE,
)
"""Names of headers whose values are secrets."""
_REFERENCE = re.compile(r"\$\{\w+\}")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

USER_AGENT = "Sourcebook/0.1"
"""Default User-Agent header of a crawl; rules in robots.txt are matched against the part before the slash."""


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
PathPattern = Annotated[Text, AfterValidator(_path_pattern)]
Rate = Annotated[Annotated[float, Field(gt=0, le=1000)] | None, BeforeValidator(_rate)]
HeaderName = Annotated[Text, AfterValidator(_header_name)]
HeaderValue = Annotated[Text, AfterValidator(_header_value)]
Network = Annotated[IPv4Network | IPv6Network, BeforeValidator(_network), PlainSerializer(str)]


class SiteSource(Settings):
    """A web site: its start URL, the pages that belong to it, and the limits of a crawl."""

    url: SiteUrl = Field(description="a URL of http or https: a page, a sitemap, or an llms.txt")
    max_depth: int = Field(
        default=10,
        strict=True,
        ge=0,
        le=1000,
        description="a whole number of links from the first page, from 0 to 1000",
    )
    max_pages: int = Field(
        default=1000, strict=True, ge=1, le=10_000_000, description="a whole number from 1 to 10,000,000"
    )
    include: tuple[PathPattern, ...] = Field(
        default=("/**",), min_length=1, description='a list of globs on the path such as ["/docs/**"], at least one'
    )
    exclude: tuple[PathPattern, ...] = Field(
        default=(), description='a list of globs on the path such as ["/docs/old/**"]'
    )
    follow_links: bool | None = Field(
        default=None, strict=True, description="true or false; unset: yes for a page, no for a sitemap or llms.txt"
    )
    scope: Literal["same_host", "same_domain"] = Field(default="same_host", description="same_host or same_domain")
    requests_per_second: Rate = Field(
        default=1.0, description="a number above 0 and at most 1000, for each host, or the word unlimited"
    )
    concurrency: int = Field(default=4, strict=True, ge=1, le=64, description="a whole number from 1 to 64")
    render: Literal["never", "auto", "always"] = Field(default="auto", description="never, auto or always")
    refresh: Duration = Field(default=timedelta(days=1), description="a duration such as 30m, 12h, 1d or 1w")
    user_agent: HeaderValue = Field(default=USER_AGENT, description="one line of text")
    respect_robots: bool = Field(default=True, strict=True, description="true or false")
    timeout: Duration = Field(default=timedelta(seconds=30), description="a duration such as 30s, for one response")
    max_bytes: ByteCount = Field(
        default=20_000_000, description="a size from 1 to 1TiB, as a whole number of bytes or as 20MB"
    )
    tags: Words = Field(default=(), description="a list of words such as [policy]; put numbers and yes or no in quotes")
    headers: dict[HeaderName, HeaderValue] = Field(
        default_factory=dict,
        description='a mapping such as {Authorization: "Bearer ${DOCS_TOKEN}"}; ${NAME} is read from the environment',
    )
    private_networks: tuple[Network, ...] = Field(
        default=(), description='a list of networks such as ["10.0.0.0/8"] that names of this site may lead to'
    )

    @field_validator("headers")
    @classmethod
    def _no_secret_in_clear(cls, headers: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        """Refuse a literal secret in a configuration file, which the database would contain in clear.

        Settings in the ledger may have one: an earlier version accepted it.
        """
        if not info.context:
            return headers
        for name, value in headers.items():
            if _SECRET.search(name) and not _REFERENCE.search(value):
                raise PydanticCustomError("secret", "a secret is kept in the environment", {"inside": (name,)})
        return headers

    @property
    def location(self) -> str:
        """The URL of the site in the ledger: scheme and host in lower case, with a path, without a fragment."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", parts.query, ""))
