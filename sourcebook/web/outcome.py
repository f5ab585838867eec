"""A URL of the frontier, and the outcomes of a visit to it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sourcebook.config.sites import SiteSource
from sourcebook.database.refusals import Refusal
from sourcebook.errors import FailureClass
from sourcebook.model.document import Block, JsonValue
from sourcebook.web.http_types import Response
from sourcebook.web.login_pages import login_reason

Role = Literal["start", "list", "page"]
Rule = Literal["robots", "noindex", "patterns", "redirect", "type", "empty", "login", "dead"]
"""Rule that excludes a page: robots.txt, the page itself, the settings, a redirect off the site, its type, no text, a
login, or a dead link."""


@dataclass(frozen=True, slots=True)
class ClaimedUrl:
    """A URL claimed by this crawl, with the stored state of its page."""

    id: int
    url: str
    role: Role
    listed: bool
    depth: int
    parent: str | None
    attempts: int
    lastmod: str | None
    etag: str | None
    last_modified: str | None
    cleaner: str | None
    sha256: bytes | None
    rendered: bool
    live: bool
    """Whether its page is stored and not removed."""

    @property
    def is_start(self) -> bool:
        """Whether it is the start of the site: the configured URL or its redirect target."""
        return self.role == "start" or (self.role == "list" and self.depth >= 0)


@dataclass(frozen=True, slots=True)
class FrontierCounts:
    """Progress of a site's crawl."""

    queued: int
    known: int
    """Queued URLs that are requested although max_pages is reached: stored pages and lists."""
    next_attempt_at: datetime | None
    """Earliest request time of the queued URLs; None where none is postponed."""
    live: int
    """Stored pages."""


@dataclass(frozen=True, slots=True)
class FoundUrl:
    """A URL named by a page, a list or a redirect, in normal form and within the site."""

    url: str
    depth: int
    parent: str | None
    role: Role = "page"
    listed: bool = False
    lastmod: str | None = None


@dataclass(frozen=True, slots=True)
class PageContent:
    """Stored content of a page: Markdown and blocks of HTML, the bytes of any other document."""

    status: int
    media_type: str
    sha256: bytes
    """Identity of the content: sha256 over Markdown, blocks and title of HTML, over the bytes of any other document.

    The page's own URL does not count in links to the page itself.
    """
    size: int
    etag: str | None = None
    last_modified: str | None = None
    title: str | None = None
    language: str | None = None
    metadata: Mapping[str, JsonValue] | None = None
    canonical_url: str | None = None
    markdown: str | None = None
    blocks: tuple[Block, ...] | None = None
    content: bytes | None = None
    links: tuple[str, ...] = ()
    """Links in normal form, to any site."""
    rendered: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """A page was fetched."""

    claimed: ClaimedUrl
    page: PageContent
    found: tuple[FoundUrl, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The server confirms that the page is unchanged."""

    claimed: ClaimedUrl


@dataclass(frozen=True, slots=True)
class Listed:
    """A sitemap or an llms.txt was read."""

    claimed: ClaimedUrl
    found: tuple[FoundUrl, ...]
    notice: str | None = None
    """Warning about entries that could not be read."""


@dataclass(frozen=True, slots=True)
class Redirected:
    """The URL redirects to another URL."""

    claimed: ClaimedUrl
    target: str
    found: tuple[FoundUrl, ...]


@dataclass(frozen=True, slots=True)
class Gone:
    """The URL does not exist, so its page is removed."""

    claimed: ClaimedUrl
    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The page is excluded on purpose, with a reason."""

    claimed: ClaimedUrl
    reason: str
    rule: Rule
    found: tuple[FoundUrl, ...] = ()
    removes: bool = False
    """Whether its stored page is removed."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The page could not be fetched or read; its stored version stays."""

    claimed: ClaimedUrl
    reason: str
    transient: bool
    failure_class: FailureClass
    retry_after: timedelta | None = None
    asks_login: bool = False
    """Whether a login was shown in place of a document."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """The host asked for a pause, so the page was not read."""

    claimed: ClaimedUrl
    until: datetime
    """By the clock of this machine."""
    reason: str
    answered: bool = False
    """Whether the URL itself was requested, and the answer was to wait."""
    failure_class: FailureClass = FailureClass.SERVER
    """FORBIDDEN where robots.txt asks for it."""


Outcome = Stored | Unchanged | Listed | Redirected | Gone | Refused | Failed | Postponed

Recorded = tuple[int, list[tuple[Outcome, Failed]]]
"""Number of new URLs, and the outcomes that the database refused, each with the failure in its place."""


def nearest_urls(found: Iterable[FoundUrl]) -> Iterable[FoundUrl]:
    """Keep one entry per URL, the nearest to the start: a statement may touch a row only once."""
    nearest: dict[str, FoundUrl] = {}
    for url in found:
        known = nearest.get(url.url)
        if known is None or (url.listed, -url.depth) > (known.listed, -known.depth):
            nearest[url.url] = url
    return nearest.values()


def not_to_be_indexed(claimed: ClaimedUrl, found: tuple[FoundUrl, ...] = ()) -> Outcome:
    """Return the outcome of a page that asks not to be indexed."""
    return Refused(claimed, "the page asks not to be indexed (robots)", "noindex", found=found, removes=True)


def not_there(claimed: ClaimedUrl, status: int) -> Outcome:
    """Return the outcome of a URL that does not exist, by who names it: a page that was there is gone."""
    if claimed.live or claimed.depth < 0:
        return Gone(claimed, f"the server answers {status}: it is not there")
    if claimed.listed or claimed.parent is None:
        named = f" though {claimed.parent} names it" if claimed.parent else ""
        return Failed(
            claimed,
            f"the server answers {status}: it is not there{named}",
            transient=False,
            failure_class=FailureClass.MISSING,
        )
    return Refused(claimed, f"the server answers {status}: {claimed.parent} links to it, but it is not there", "dead")


def soft_not_found(claimed: ClaimedUrl) -> Refused:
    """Return the outcome of a page that says what its host says of any address: that nothing is there."""
    reason = "the server answers 200, and says what it says of any address: it is not there"
    return Refused(claimed, reason, "dead", removes=True)


def led_away(claimed: ClaimedUrl, target: str) -> Outcome:
    """Return the outcome of a URL that leads off the site; the start fails and removes no page."""
    reason = f"it redirects to {target[:200]}, which does not belong to the site"
    if claimed.is_start:
        return Failed(
            claimed,
            f"{reason}; if the site has moved there, make that its `url`",
            transient=False,
            failure_class=FailureClass.SERVER,
        )
    return Refused(claimed, reason, "redirect", removes=True)


def asks_login(claimed: ClaimedUrl, settings: SiteSource, what: str) -> Outcome:
    """Return the outcome of a URL that shows a login in place of a document; the stored page stays."""
    reason = login_reason(settings, what)
    return Failed(claimed, reason, transient=False, failure_class=FailureClass.FORBIDDEN, asks_login=True)


def refused_by_database(outcome: Outcome, refusal: Refusal) -> Failed:
    """Return what a visit whose outcome the database does not take comes to."""
    return Failed(outcome.claimed, refusal.reason, transient=False, failure_class=refusal.failure_class)


MOST_REDIRECTS = 10
"""Redirects followed in a row."""
SETTLED = 6
"""Attempts, over about an hour, after which a temporary redirect counts as permanent; earlier it may be maintenance."""
_FOR_NOW = frozenset({302, 303, 307})


class RedirectTrail:
    """Remembers every redirect of a crawl."""

    def __init__(self) -> None:
        self._targets: dict[str, str] = {}
        self._hops: dict[str, int] = {}

    def follow(self, url: str, target: str) -> str | None:
        """Record a redirect; return the reason not to follow it, None where there is none."""
        self._targets[url] = target
        self._hops[target] = min(self._hops.get(url, 0) + 1, self._hops.get(target, MOST_REDIRECTS + 1))
        if self._hops[target] > MOST_REDIRECTS:
            return f"the redirects that lead here are more than {MOST_REDIRECTS}"
        if target == url:
            return "it redirects to itself; where it waits for its cookie, `request: {cookies: true}` sends that back"
        if self._leads_back(url):
            return f"its redirects go round in a circle, by {target}"
        return None

    def _leads_back(self, url: str) -> bool:
        following = self._targets.get(url)
        for _ in range(MOST_REDIRECTS):
            if following is None or following == url:
                break
            following = self._targets.get(following)
        return following == url


def temporary_status(response: Response) -> int | None:
    """Return the status of a redirect that holds only for now, None for a permanent one."""
    return response.status if response.status in _FOR_NOW else None
