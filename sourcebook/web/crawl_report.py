"""The report of a crawl: what was fetched, redirected, refused and by what rule, dead, duplicate, slow or left out."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sourcebook.web.left_out import LeftOutLinks

SLOWEST = 20
"""URLs that a report names as the slowest."""


@dataclass(frozen=True, slots=True)
class CrawledUrl:
    """A known URL of a site with its state and, where it is stored, its page."""

    url: str
    role: str
    state: str
    depth: int
    parent: str | None = None
    reason: str | None = None
    """Reason of a failure or refusal; of a list, what it left out."""
    rule: str | None = None
    failure_class: str | None = None
    redirects_to: str | None = None
    seconds: float | None = None
    media_type: str | None = None
    size: int | None = None
    sha256: bytes | None = None
    canonical_url: str | None = None
    links: Sequence[str] | None = None
    """Links of the stored page; None where none is stored."""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page that is stored."""

    url: str
    media_type: str | None
    bytes: int | None
    depth: int
    seconds: float | None
    """Time of the last response, from the sent request to the last byte; None where none is recorded."""


@dataclass(frozen=True, slots=True)
class RedirectedUrl:
    """A URL that leads to another one."""

    url: str
    target: str | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RefusedUrls:
    """URLs that a rule excludes, each with its reason."""

    rule: str
    urls: dict[str, str]


@dataclass(frozen=True, slots=True)
class DeadLink:
    """A URL that does not exist."""

    url: str
    reason: str
    referrers: tuple[str, ...]
    """Pages with a link to it, and lists that name it."""


@dataclass(frozen=True, slots=True)
class FailedUrl:
    """A URL that could not be fetched or read."""

    url: str
    reason: str
    failure_class: str | None


@dataclass(frozen=True, slots=True)
class DuplicatePage:
    """A page that is no document, because another page has its content."""

    url: str
    of: str
    by: str
    """`content`, or `canonical` where the page names the other one."""


@dataclass(frozen=True, slots=True)
class SlowUrl:
    """A URL with the time of its response in seconds."""

    url: str
    seconds: float


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """Fate of every known URL of a site."""

    collection: str | None
    url: str
    error: str | None
    """Reason why the last crawl is not complete."""
    fetched: tuple[FetchedPage, ...] = ()
    redirected: tuple[RedirectedUrl, ...] = ()
    refused: tuple[RefusedUrls, ...] = ()
    dead: tuple[DeadLink, ...] = ()
    failed: tuple[FailedUrl, ...] = ()
    duplicates: tuple[DuplicatePage, ...] = ()
    slow: tuple[SlowUrl, ...] = ()
    left_out: tuple[LeftOutLinks, ...] = ()
    lists: dict[str, str | None] = field(default_factory=dict)
    """Lists that were read, each with what it left out."""
    queued: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The number of URLs of each kind."""
        return {
            "fetched": len(self.fetched),
            "redirected": len(self.redirected),
            "refused": sum(len(group.urls) for group in self.refused),
            "dead": len(self.dead),
            "failed": len(self.failed),
            "duplicates": len(self.duplicates),
            "left_out": sum(group.number for group in self.left_out),
            "lists": len(self.lists),
            "queued": len(self.queued),
            "beyond": len(self.beyond),
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the plain values that `sourcebook crawl --report --json` prints."""
        return {"counts": self.counts, **asdict(self)}


def report_of(
    urls: Sequence[CrawledUrl],
    *,
    url: str,
    collection: str | None = None,
    error: str | None = None,
    left_out: Iterable[LeftOutLinks] = (),
) -> CrawlReport:
    """Compose the report of a site.

    Args:
        urls: its known URLs; of equal pages the first one is the document.
        url: URL of the site.
        collection: name of its collection.
        error: reason why the crawl is not complete.
        left_out: URLs that were never requested.
    """
    dead = _dead_links(urls)
    missing = {each.url for each in dead}
    refused: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for each in urls:
        if each.state == "refused" and each.url not in missing:
            refused[each.rule or "other"][each.url] = each.reason or ""
    timed = [SlowUrl(each.url, each.seconds) for each in urls if each.seconds is not None]
    return CrawlReport(
        collection,
        url,
        error,
        fetched=tuple(
            FetchedPage(each.url, each.media_type, each.size, each.depth, each.seconds)
            for each in urls
            if each.links is not None
        ),
        redirected=tuple(
            RedirectedUrl(each.url, each.redirects_to, each.seconds) for each in urls if each.state == "redirected"
        ),
        refused=tuple(RefusedUrls(rule, refused[rule]) for rule in sorted(refused)),
        dead=dead,
        failed=tuple(
            FailedUrl(each.url, each.reason or "", each.failure_class)
            for each in urls
            if each.state == "failed" and each.url not in missing
        ),
        duplicates=_duplicates(urls),
        slow=tuple(sorted(timed, key=lambda each: -each.seconds)[:SLOWEST]),
        left_out=tuple(left_out),
        lists={each.url: each.reason for each in urls if each.state == "fetched" and each.links is None},
        queued=tuple(each.url for each in urls if each.state in {"queued", "fetching"}),
        beyond=tuple(each.url for each in urls if each.state == "beyond"),
    )


def _dead_links(urls: Sequence[CrawledUrl]) -> tuple[DeadLink, ...]:
    """Return the URLs that do not exist; a page that was removed counts where a page still links to it."""
    gone = {each.url: each for each in urls if each.role == "page" and _is_gone(each)}
    referrers: dict[str, list[str]] = {url: [] for url in gone}
    for each in urls:
        for link in each.links or ():
            if link in referrers:
                referrers[link].append(each.url)
    for url, each in gone.items():
        if each.parent is not None and each.parent not in referrers[url] and each.state != "gone":
            referrers[url].append(each.parent)
    return tuple(
        DeadLink(url, each.reason or "", tuple(sorted(referrers[url])))
        for url, each in gone.items()
        if each.state != "gone" or referrers[url]
    )


def _is_gone(each: CrawledUrl) -> bool:
    return (
        each.state == "gone"
        or (each.state == "refused" and each.rule == "dead")
        or (each.state == "failed" and each.failure_class == "missing")
    )


def _duplicates(urls: Sequence[CrawledUrl]) -> tuple[DuplicatePage, ...]:
    """Return the stored pages that are no documents; see the view `present_page`."""
    stored = {each.url: each for each in urls if each.links is not None}
    first: dict[bytes, str] = {}
    found = []
    for each in stored.values():
        canonical = stored.get(each.canonical_url or "")
        if canonical is not None and canonical.url != each.url and canonical.canonical_url is None:
            found.append(DuplicatePage(each.url, canonical.url, "canonical"))
        elif each.sha256 is not None and first.setdefault(each.sha256, each.url) != each.url:
            found.append(DuplicatePage(each.url, first[each.sha256], "content"))
    return tuple(found)
