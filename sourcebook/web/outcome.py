"""One URL of the frontier, and what became of a visit to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sourcebook.model.document import Block, JsonValue

Role = Literal["start", "list", "page"]


@dataclass(frozen=True, slots=True)
class ClaimedUrl:
    """A URL that this crawl alone works on, and what is known of its page."""

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
    """Whether its page is kept now."""

    @property
    def is_start(self) -> bool:
        """Whether the site begins here: at its URL, or where that one redirects to."""
        return self.role == "start" or (self.role == "list" and self.depth >= 0)


@dataclass(frozen=True, slots=True)
class FoundUrl:
    """A URL that a page, a list or a redirect names, in normal form and within the site."""

    url: str
    depth: int
    parent: str | None
    role: Role = "page"
    listed: bool = False
    lastmod: str | None = None


@dataclass(frozen=True, slots=True)
class PageContent:
    """What is kept of a page: main content and blocks of HTML, or else the bytes."""

    status: int
    media_type: str
    sha256: bytes
    """Of the content without what changes by itself."""
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
    """In normal form, whatever site they lead to."""
    rendered: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """A page was fetched."""

    claimed: ClaimedUrl
    page: PageContent
    found: tuple[FoundUrl, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The server says that the page is as it was."""

    claimed: ClaimedUrl


@dataclass(frozen=True, slots=True)
class Listed:
    """A sitemap or an llms.txt was read."""

    claimed: ClaimedUrl
    found: tuple[FoundUrl, ...]
    notice: str | None = None
    """What could not be read of it."""


@dataclass(frozen=True, slots=True)
class Redirected:
    """The page is elsewhere."""

    claimed: ClaimedUrl
    target: str
    found: tuple[FoundUrl, ...]


@dataclass(frozen=True, slots=True)
class Gone:
    """There is nothing at this URL, and a page of it is removed."""

    claimed: ClaimedUrl
    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The page is not taken on purpose, and the reason is told."""

    claimed: ClaimedUrl
    reason: str
    by_robots: bool = False
    found: tuple[FoundUrl, ...] = ()
    removes: bool = False
    """Whether a page that was kept of it leaves: it is there, but no page to keep any more."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The page could not be fetched or read; what was kept of it stays."""

    claimed: ClaimedUrl
    reason: str
    transient: bool
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Postponed:
    """The host is to be left alone for a while: nothing was learned of the page."""

    claimed: ClaimedUrl
    until: datetime
    reason: str


Outcome = Stored | Unchanged | Listed | Redirected | Gone | Refused | Failed | Postponed
