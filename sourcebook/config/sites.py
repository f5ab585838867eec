"""The settings of a web site as a source: `sites:` of a collection."""

import re
from datetime import timedelta
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit, urlunsplit

from pydantic import AfterValidator, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.browser import BrowserSettings
from sourcebook.config.field_types import ByteCount, Duration, FilePath, Settings, Text, Words
from sourcebook.config.gone_settings import regrouped
from sourcebook.config.permissions import SourcePermissions
from sourcebook.config.site_types import (
    REFERENCE,
    HeaderName,
    HeaderValue,
    Network,
    PathPattern,
    ProxyUrl,
    Rate,
    SiteUrl,
)

_SECRET_FIELD = re.compile(r"pass|pwd|pin$|secret|token|otp|code|credential|(^|[-_a-z])key$", re.IGNORECASE)
"""Names of form fields whose values are secrets."""
_SECRET_HEADER = re.compile(
    r"authoriz|authent|(^|[-_])auth([-_]|$)|cookie|token|secret|passw|credential|session|signature|(^|[-_a-z])key$",
    re.IGNORECASE,
)
"""Names of headers whose values are secrets."""


def _refuse_literal(value: str, info: ValidationInfo, *inside: str) -> None:
    """Refuse a literal secret in a configuration file, which the database would contain in clear.

    Settings in the ledger may have one: an earlier version accepted it.
    """
    if info.context and not REFERENCE.search(value):
        raise PydanticCustomError("secret", "a secret is kept in the environment", {"inside": inside})


def _secrets(names: re.Pattern[str]) -> AfterValidator:
    """Return the check of a mapping in which a value is a secret where its name says so."""

    def check(values: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        for name in filter(names.search, values):
            _refuse_literal(values[name], info, name)
        return values

    return AfterValidator(check)


def _basic(value: str, info: ValidationInfo) -> str:
    user, colon, password = value.partition(":")
    if not (user and colon and password):
        raise PydanticCustomError("basic", "it names a user and a password with a colon between them")
    _refuse_literal(password, info)
    return value


def _proxy_account(proxy: str, info: ValidationInfo) -> str:
    account = proxy.rpartition("@")[0].partition("://")[2]
    if ":" in account:
        _refuse_literal(account.rpartition(":")[2], info)
    return proxy


class LoginSettings(Settings):
    """How a crawl logs in: with a form, with a stored state of a browser, or with HTTP basic authentication."""

    form: SiteUrl | None = Field(default=None, description="the URL of the page with the login form")
    """URL of the page with the login form."""
    fields: Annotated[dict[Text, HeaderValue], _secrets(_SECRET_FIELD)] = Field(
        default_factory=dict,
        description='a mapping of the form\'s field names to values such as {user: "${DOCS_USER}"}; '
        "${NAME} is read from the environment",
    )
    """Values by the names of the form's fields; a password must be a variable of the environment."""
    state: FilePath = Field(
        default=None, description="the path of a storage state that Playwright has saved, relative to this file"
    )
    """Storage state that Playwright has saved."""
    basic: Annotated[HeaderValue, AfterValidator(_basic)] | None = Field(
        default=None, description='user and password such as "${DOCS_USER}:${DOCS_PASSWORD}"'
    )
    """User and password for HTTP basic authentication."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if sum(way is not None for way in (self.form, self.state, self.basic)) != 1:
            raise PydanticCustomError("login", "a login has one of form, state and basic")
        if (self.form is None) == bool(self.fields):
            raise PydanticCustomError("login", "form and fields belong together")
        return self


USER_AGENT = "Sourcebook/0.1"
"""Default User-Agent header of a crawl; rules in robots.txt are matched against the part before the slash."""


class RequestSettings(Settings):
    """A request to a site: its headers, its way through the network, and the limits of its response."""

    headers: Annotated[dict[HeaderName, HeaderValue], _secrets(_SECRET_HEADER)] = Field(
        default_factory=dict,
        description='a mapping such as {Authorization: "Bearer ${DOCS_TOKEN}"}; ${NAME} is read from the environment',
    )
    """Headers that are sent to the site's own host only. The value of a secret header (`Authorization`, `Cookie`,
    `X-Api-Key`, …) names an environment variable, so that no secret is in the file and the database."""
    cookies: bool = Field(
        default=False, strict=True, description="true or false: whether a crawl sends the cookies that the site sets"
    )
    """Whether the cookies of the site are sent back to it, as long as a crawl runs."""
    user_agent: HeaderValue = Field(default=USER_AGENT, description="one line of text")
    """User-Agent header; rules in robots.txt are matched against the part before the slash."""
    proxy: Annotated[ProxyUrl, AfterValidator(_proxy_account)] | None = Field(
        default=None,
        description="a URL such as http://proxy.example.com:3128, or none; unset: HTTPS_PROXY, HTTP_PROXY and NO_PROXY",
    )
    """Proxy of the requests: see [proxies](site-access.md#proxies)."""
    private_networks: tuple[Network, ...] = Field(
        default=(), description='a list of networks such as ["10.0.0.0/8"] that names of this site may lead to'
    )
    """Private networks that host names of this site may resolve to: see [private
    networks](site-access.md#private-networks)."""
    timeout: Duration = Field(default=timedelta(seconds=30), description="a duration such as 30s, for one response")
    """Maximum time of one response, from the DNS look-up to the last byte."""
    max_bytes: ByteCount = Field(
        default=20_000_000, description="a size from 1 to 1TiB, as a whole number of bytes or as 20MB"
    )
    """Maximum size of one response, both as sent and unpacked; a larger one fails."""


class PolitenessSettings(Settings):
    """The load that a crawl puts on a site, and the rules of the site that it keeps."""

    requests_per_second: Rate = Field(
        default=1.0, description="a number above 0 and at most 1000, for each host, or the word unlimited"
    )
    """Maximum requests per second to each host; `0.2` is one in five seconds."""
    concurrency: int = Field(default=4, strict=True, ge=1, le=64, description="a whole number from 1 to 64")
    """Maximum concurrent requests, or pages in the browser."""
    respect_robots: bool = Field(default=True, strict=True, description="true or false")
    """Whether robots.txt and the `noindex` and `nofollow` of pages are kept."""
    max_crawl_delay: Duration = Field(
        default=timedelta(minutes=1),
        description="a duration such as 30s or 5m: a site whose robots.txt asks for a longer Crawl-delay is postponed",
    )
    """Longest Crawl-delay of robots.txt that is kept: a host that asks for more is
    [postponed](site-access.md#politeness) by `refresh`, at most a day."""


class SiteSource(SourcePermissions):
    """A web site: its start URL, the pages that belong to it, and how they are reached."""

    url: SiteUrl = Field(description="a URL of http or https: a page, a sitemap, or an llms.txt")
    """Start URL: a page, a sitemap (also an index, a feed or a list of URLs, also gzipped), or an llms.txt, recognised
    by its content."""
    max_depth: int = Field(
        default=10,
        strict=True,
        ge=0,
        le=1000,
        description="a whole number of links from the first page, from 0 to 1000",
    )
    """Maximum number of links from the first page; URLs of a list count as 0."""
    max_pages: int = Field(
        default=1000, strict=True, ge=1, le=10_000_000, description="a whole number from 1 to 10,000,000"
    )
    """Maximum number of pages; `status` shows how many more are known."""
    include: tuple[PathPattern, ...] = Field(
        default=("/**",), min_length=1, description='a list of globs on the path such as ["/docs/**"], at least one'
    )
    """Globs of the paths to include; see [patterns](sites.md#patterns)."""
    exclude: tuple[PathPattern, ...] = Field(
        default=(), description='a list of globs on the path such as ["/docs/old/**"]'
    )
    """Globs of the paths to exclude."""
    follow: tuple[PathPattern, ...] | None = Field(
        default=None,
        min_length=1,
        description='a list of globs on the path such as ["/**"], of pages whose links are followed; unset: include',
    )
    """Globs of the pages whose links are followed."""
    keep: tuple[PathPattern, ...] | None = Field(
        default=None,
        min_length=1,
        description='a list of globs on the path such as ["/docs/**"], of pages that become documents; unset: include',
    )
    """Globs of the pages that become documents."""
    follow_links: bool | None = Field(
        default=None, strict=True, description="true or false; unset: yes for a page, no for a sitemap or llms.txt"
    )
    """Whether links are followed."""
    scope: Literal["same_host", "same_domain"] = Field(default="same_host", description="same_host or same_domain")
    """Hosts that belong to the site: `same_host`, or `same_domain` for all hosts of the registered domain."""
    canonical: Literal["compare", "trust", "ignore"] = Field(
        default="compare",
        description="compare, trust or ignore: whether a page that names another one as canonical is no document; "
        "compare: where that one says the same",
    )
    """Rule for a page that names another one as canonical: see [what a canonical link
    removes](site-changes.md#one-page-several-urls)."""
    render: Literal["never", "auto", "always"] = Field(default="auto", description="never, auto or always")
    """Whether pages are opened in a browser: `auto` does so where a page has scripts and no text, or where `browser`
    does something on pages."""
    browser: BrowserSettings | None = Field(
        default=None, description='a mapping such as {wait_for: "main article", scroll: true, locale: de-DE}'
    )
    """Steps of the browser on a page before it is read: see
    [sites](site-browser.md#what-the-browser-does-on-a-page)."""
    refresh: Duration = Field(default=timedelta(days=1), description="a duration such as 30m, 12h, 1d or 1w")
    """Interval between the end of a crawl and the next one, at most ten years."""
    politeness: PolitenessSettings = Field(
        default=PolitenessSettings(), description="a mapping such as {requests_per_second: 0.5, concurrency: 2}"
    )
    """Load on the site, and the rules of the site that are kept: see [politeness](site-access.md#politeness)."""
    request: RequestSettings = Field(
        default=RequestSettings(), description="a mapping such as {user_agent: Handbook/1.0, timeout: 10s}"
    )
    """Headers, proxy and limits of each request."""
    tags: Words = Field(default=(), description="a list of words such as [policy]; put numbers and yes or no in quotes")
    path_tags: dict[PathPattern, Words] = Field(
        default_factory=dict, description='a mapping of globs on the path to tags such as {"/howto/**": [howto]}'
    )
    """Tags of pages by globs of their paths."""
    login: LoginSettings | None = Field(
        default=None,
        description='a mapping such as {form: https://docs.example.com/login, fields: {user: "${DOCS_USER}", '
        'password: "${DOCS_PASSWORD}"}}, {state: state.json} or {basic: "${DOCS_USER}:${DOCS_PASSWORD}"}',
    )
    """One of `form` with `fields`, `state` and `basic`: see [login](site-login.md)."""

    @model_validator(mode="before")
    @classmethod
    def _regroup_stored(cls, site: Any, info: ValidationInfo) -> Any:
        """Take settings over that were stored before they had groups; a configuration file is told of each."""
        return site if info.context or not isinstance(site, dict) else regrouped(site)

    @model_validator(mode="after")
    def _browser_is_used(self) -> Self:
        if self.browser is not None and self.render == "never":
            raise PydanticCustomError(
                "browser", "`render: never` opens no page in a browser; use auto or always", {"inside": ("browser",)}
            )
        return self

    @property
    def renders_every_page(self) -> bool:
        """Whether a browser opens every page, also one with text: so for settings that change what a page holds."""
        return self.render == "always" or (self.browser is not None and self.browser.changes_pages)

    @property
    def rendering(self) -> str:
        """Identity of the settings of rendering; empty where pages are fetched, and rendered by the defaults."""
        changed = f"+{self.browser.identity}" if self.browser is not None else ""
        return f"{'+rendered' if self.renders_every_page else ''}{changed}"

    @property
    def reading(self) -> str:
        """Identity of the settings of which a stored page depends; empty by default."""
        return self.rendering + ("" if self.canonical == "compare" else f"+canonical {self.canonical}")

    @property
    def page_seconds(self) -> float:
        """Seconds that a page may take in the browser."""
        own = None if self.browser is None else self.browser.page_timeout
        return (own or self.request.timeout).total_seconds()

    @property
    def keeps_cookies(self) -> bool:
        """Whether cookies live as long as a crawl: a form's login and a stored state are cookies."""
        return self.request.cookies or (self.login is not None and self.login.basic is None)

    @property
    def followed(self) -> tuple[str, ...]:
        """Patterns of the pages whose links are followed."""
        return self.include if self.follow is None else self.follow

    @property
    def kept(self) -> tuple[str, ...]:
        """Patterns of the pages that become documents."""
        return self.include if self.keep is None else self.keep

    @property
    def location(self) -> str:
        """The URL of the site in the ledger: scheme and host in lower case, with a path, without a fragment."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", parts.query, ""))


def site_location(url: str) -> str:
    """Return the location of the site that starts at a URL; the URL itself where it is none of a site."""
    try:
        return SiteSource(url=url).location
    except ValueError:
        return url
