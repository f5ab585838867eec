"""Metadata of an HTML page: title, language, author, dates, canonical URL, directives for robots."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from sourcebook.model.document import JsonValue
from sourcebook.parsing.dates import iso_date
from sourcebook.parsing.html.linked_data import linked_things
from sourcebook.parsing.html.links import absolute, refresh
from sourcebook.parsing.html.tree import Element, body_of, found, plain_text
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.titles import LONGEST_TITLE

_LONGEST_VALUE = 2000
_SEPARATOR = re.compile(r"\s+(?:[-–—|·•»«/]|::|:)\s+")
_UNAVAILABLE_AFTER = re.compile(r"\bunavailable_after\s*:\s*(.+)", re.IGNORECASE)
_DIRECTIVES = re.compile(r"(?:(?:no)?(?:index|follow|archive|snippet)|none|all|[\s,])+", re.IGNORECASE)
_SAVED_FROM = re.compile(r"<!--\s*saved from url=\(\d+\)(\S+)\s*-->", re.IGNORECASE)
# As browsers read it, who ignore a fraction of a second: `0;url=…`, `0, 'a'`, `0.5 url = a`.
_MOST_WORDS = 40
"""Words of a page that does nothing but lead to another one."""
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml"})
_DESCRIPTION = ("description", "og:description", "twitter:description", "dc.description", "dcterms.description")
_AUTHOR = ("author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "citation_author")
_PUBLISHED = (
    "article:published_time", "datepublished", "og:published_time", "date", "dc.date", "dcterms.date", "dc.date.issued",
    "dcterms.created", "pubdate", "publish_date", "parsely-pub-date", "citation_publication_date",
)  # fmt: skip
_MODIFIED = (
    "article:modified_time", "datemodified", "og:updated_time", "last-modified", "dcterms.modified", "dc.date.modified",
    "revised", "lastmod",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageHead:
    """Metadata of a page, read before any element is removed."""

    titles: tuple[str, ...]
    """Texts of <title> and og:title, as far as present."""
    site_name: str | None = None
    canonical: str | None = None
    language: str | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    noindex: bool = False
    nofollow: bool = False
    named_robots: str = ""
    """Directives for crawlers that the page names, as in a header X-Robots-Tag."""
    redirect: str | None = None
    """Absolute URL to which the page leads at once (`<meta http-equiv=refresh>` of 0 seconds)."""
    feeds: tuple[str, ...] = ()
    """Absolute URLs of the RSS and Atom feeds that the page names (`<link rel=alternate>`)."""


def read_head(tree: Element, *, base: str) -> PageHead:
    """Return the metadata of a page; `base` is the base of its relative URLs."""
    meta = _meta(tree)
    data = _linked_data(tree)
    robots = {word for value in meta.get("robots", "").lower().split(",") if (word := value.strip())}
    times = _times(tree)
    values: dict[str, JsonValue] = {
        "description": _first(meta, _DESCRIPTION),
        "author": _author(meta) or data.get("author"),
        "keywords": [word for part in clean(meta.get("keywords", "")).split(",") if (word := " ".join(part.split()))],
        "published": _date(meta, _PUBLISHED) or data.get("published") or times.get("published"),
        "modified": _date(meta, _MODIFIED) or data.get("modified") or times.get("modified"),
    }
    return PageHead(
        titles=tuple(title for title in (_title(tree), meta.get("og:title")) if title),
        site_name=meta.get("og:site_name") or meta.get("application-name"),
        canonical=_canonical(tree, base),
        language=_language(tree),
        metadata={name: value for name, value in values.items() if value},
        noindex=not robots.isdisjoint({"noindex", "none"}) or is_over(meta.get("robots", "")),
        nofollow=not robots.isdisjoint({"nofollow", "none"}),
        named_robots=", ".join(f"{name}: {said}" for name, said in meta.items() if _DIRECTIVES.fullmatch(said)),
        redirect=_redirect(tree, base),
        feeds=tuple(_feeds(tree, base)),
    )


def is_over(directives: str) -> bool:
    """Return whether directives for robots name a time in the past after which the page is not to be found.

    A date may hold commas, as directives between themselves do.
    """
    found = _UNAVAILABLE_AFTER.search(directives)
    parts = found[1].split(",") if found else []
    for number in range(1, len(parts) + 1):
        moment = iso_date(",".join(parts[:number]))
        if moment is not None:
            until = datetime.fromisoformat(moment)
            return (until if until.tzinfo else until.replace(tzinfo=UTC)) < datetime.now(UTC)
    return False


def page_address(tree: Element, text: str) -> str:
    """Return the web address from which a browser saved a page, its note `saved from url`; "" without one.

    The canonical link is no such address: relative links need not be relative to it.
    """
    saved = _SAVED_FROM.search(text[:_LONGEST_VALUE])
    return (saved and absolute("", saved[1])) or ""


def page_title(head: PageHead, heading: str) -> str | None:
    """Return the page's title without the name of its site, which og:site_name or the first heading reveals.

    Args:
        head: metadata of the page.
        heading: text of the page's H1, "" where there is none; the title where the page declares none.
    """
    if not head.titles:
        return heading[:LONGEST_TITLE] or None
    title = head.titles[0]
    separators = list(_SEPARATOR.finditer(title))
    if separators:
        first, last = separators[0], separators[-1]
        if heading:
            begins = next((cut for cut in separators if _same(title[: cut.start()], heading)), None)
            ends = next((cut for cut in separators if _same(title[cut.end() :], heading)), None)
            if begins or ends:
                title = title[: begins.start()] if begins else title[ends.end() :] if ends else title
                return title[:LONGEST_TITLE]
        if head.site_name:
            if _same(title[last.end() :], head.site_name):
                title = title[: last.start()]
            elif _same(title[: first.start()], head.site_name):
                title = title[first.end() :]
    return title[:LONGEST_TITLE]


def is_site_name(head: PageHead, heading: str) -> bool:
    """Whether a heading is the name of the site rather than of the page."""
    if head.site_name and _same(heading, head.site_name):
        return True
    title = head.titles[0] if head.titles else ""
    return any(_same(title[cut.end() :], heading) for cut in list(_SEPARATOR.finditer(title))[-1:])


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _title(tree: Element) -> str | None:
    for title in tree.iter("title"):
        if next(title.iterancestors("svg"), None) is None and (text := plain_text(title)):
            return text[:_LONGEST_VALUE]
    return None


def _meta(tree: Element) -> dict[str, str]:
    """Return the first value of each <meta> by its name, property, itemprop or http-equiv; of `robots` all values."""
    found: dict[str, str] = {}
    robots: list[str] = []
    for element in tree.iter("meta"):
        content = " ".join((element.get("content") or "").split())[:_LONGEST_VALUE]
        names = (element.get(kind) for kind in ("name", "property", "itemprop", "http-equiv"))
        name = next((name.strip().lower() for name in names if name), None)
        if name == "robots":
            robots.append(content)
        elif name and content:
            found.setdefault(name, content)
    return {**found, "robots": ",".join(robots)}


def _first(meta: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((meta[name] for name in names if name in meta), None)


def _date(meta: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((moment for name in names if name in meta and (moment := iso_date(meta[name]))), None)


def _author(meta: Mapping[str, str]) -> str | None:
    return next((meta[name] for name in _AUTHOR if name in meta and "://" not in meta[name]), None)


def _canonical(tree: Element, base: str) -> str | None:
    for link in tree.iter("link"):
        if "canonical" in (link.get("rel") or "").lower().split() and (href := link.get("href")):
            return absolute(base, href)
    return None


def _feeds(tree: Element, base: str) -> Iterator[str]:
    for link in tree.iter("link"):
        is_feed = (link.get("type") or "").partition(";")[0].strip().lower() in _FEED_TYPES
        if is_feed and "alternate" in (link.get("rel") or "").lower().split() and (href := link.get("href")):
            yield from filter(None, [absolute(base, href)])


def _redirect(tree: Element, base: str) -> str | None:
    """Return the target of the first refresh of a page.

    One after some seconds, or in <noscript> for browsers without scripts, counts where the page says no more.
    """
    for element in tree.iter("meta"):
        if (found := refresh(element, base)) is None:
            continue
        seconds, target = found
        is_for_all = next(element.iterancestors("noscript"), None) is None
        if target and ((is_for_all and not seconds.strip("0")) or _only_leads_to(tree, base, target)):
            return target
        if is_for_all:
            return None
    return None


def _only_leads_to(tree: Element, base: str, target: str) -> bool:
    """Whether a page is few words with a link to a target, and with no other link."""
    if {absolute(base, link.get("href") or "") for link in tree.iter("a")} != {target}:
        return False
    texts = found(body_of(tree), "descendant::text()[not(ancestor::script or ancestor::style)]")
    return len(" ".join(texts).split()) <= _MOST_WORDS


def _language(tree: Element) -> str | None:
    root = next(tree.iter("html"), None)
    declared = (root.get("lang") or root.get("xml:lang") or "") if root is not None else ""
    language = declared.strip().lower().replace("_", "-").partition("-")[0]
    return language if len(language) == 2 and language.isascii() and language.isalpha() else None


def _times(tree: Element) -> dict[str, str]:
    """Return dates of <time datetime>, by itemprop or class; else the first one of an article as `published`."""
    declared: dict[str, str] = {}
    supposed: dict[str, str] = {}
    for time in tree.iter("time"):
        moment = iso_date(time.get("datetime") or "")
        if moment is None:
            continue
        around = [time, *islice(time.iterancestors(), 2)]
        said = " ".join(f"{element.get('itemprop') or ''} {element.get('class') or ''}" for element in around).lower()
        if "modified" in said or "updated" in said:
            declared.setdefault("modified", moment)
        elif "publish" in said or time.get("pubdate") is not None:
            declared.setdefault("published", moment)
        elif next(time.iterancestors("article", "header"), None) is not None:
            supposed.setdefault("published", moment)
    return supposed | declared


def _linked_data(tree: Element) -> dict[str, str]:
    """Return author, datePublished and dateModified of JSON-LD, each from its first occurrence."""
    found: dict[str, str] = {}
    for script in tree.iter("script"):
        if (script.get("type") or "").strip().lower() != "application/ld+json":
            continue
        for thing in linked_things(script.text or ""):
            for name, key in (("published", "datePublished"), ("modified", "dateModified")):
                value = thing.get(key)
                if isinstance(value, str) and (moment := iso_date(value)):
                    found.setdefault(name, moment)
            if author := _name(thing.get("author")):
                found.setdefault("author", author)
    return found


def _name(author: JsonValue) -> str | None:
    """Return the name of an author, or the names of several."""
    names: list[str] = []
    for one in author[:20] if isinstance(author, list) else [author]:
        name = one.get("name") if isinstance(one, dict) else one
        if isinstance(name, str) and "://" not in name:
            names.append(" ".join(clean(name).split()))
    return ", ".join(filter(None, names))[:_LONGEST_VALUE] or None
