"""Sitemaps: XML, sitemap indexes, plain text, and RSS or Atom feeds, each also gzipped.

Expat parses them in the way of defusedxml: a document type declaration ends the parsing, so no entity is declared and
no file is fetched.
"""

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import NamedTuple
from xml.parsers import expat

from sourcebook.errors import SourcebookError
from sourcebook.parsing.text.decode import decode
from sourcebook.web.url import LONGEST_URL, normal_form

_GZIP = b"\x1f\x8b"
_HEAD = 65_536
_DEEPEST = 50
_MOST_MEMBERS = 10_000
"""Limit on the members of a gzip file; parallel compressors write one per 64 KiB or more."""
_ENTRIES = {
    "urlset": ("url", "sitemap"),
    "sitemapindex": ("sitemap", "url"),
    "rss": ("item",),
    "rdf": ("item",),
    "feed": ("entry",),
}
"""Names of the entry elements, by root element."""
_URLS = frozenset({"loc", "link"})
_DATES = frozenset({"lastmod", "pubdate", "updated", "date"})
_TEXT_LINES = re.compile(r"\s*(?:https?://\S+[ \t]*(?:\r?\n\s*|\Z))+", re.IGNORECASE)


class SitemapError(SourcebookError):
    """A sitemap cannot be read; the message is the reason."""


class SitemapEntry(NamedTuple):
    """A URL of a sitemap. A tuple, because there are many."""

    url: str
    """URL in normal form."""
    last_modified: str | None = None
    """Date as written in the sitemap, to be compared with its earlier value."""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The URLs of a sitemap, in order and without repetition, including those of other hosts."""

    urls: tuple[SitemapEntry, ...]
    sitemaps: tuple[SitemapEntry, ...] = ()
    """Sitemaps of a sitemap index."""
    notice: str | None = None
    """Warning: the place where the parsing stopped, or the number of entries that are no URLs."""


def looks_like_sitemap(body: bytes) -> bool:
    """Return whether a body is a sitemap or a feed, by its content.

    The root element decides; `read_sitemap` may still refuse the body.
    """
    head = _head(body)
    return _root(head) in _ENTRIES or _is_list_of_urls(head)


def read_sitemap(body: bytes, base_url: str, *, max_bytes: int) -> Sitemap:
    """Read a sitemap; where the XML or the compression is broken, keep the entries before that, with a notice.

    Args:
        body: body of the response, possibly gzipped.
        base_url: URL of the sitemap, base of relative URLs.
        max_bytes: limit on the decompressed bytes.

    Raises:
        SitemapError: the body is no sitemap, is too large, or has a document type declaration.
    """
    head = _head(body)
    entries = _ENTRIES.get(_root(head))
    if entries is None and _is_list_of_urls(head):
        return _read_text(body, base_url, max_bytes)
    if entries is None:
        raise SitemapError("this is no sitemap: neither XML with <urlset> or <sitemapindex>, nor a list of URLs")
    reader = _XmlReader(base_url, entries)
    notice = None
    try:
        # White space before the XML declaration is common, but an error to expat.
        lead = True
        for piece in _decompressed(body, max_bytes):
            if lead and not (piece := piece.lstrip()):
                continue
            lead = False
            reader.feed(piece)
        reader.close()
    except (expat.ExpatError, ValueError, LookupError, _BrokenOffError) as error:
        # Expat raises ValueError or LookupError for an unknown encoding.
        found = len(reader.urls) + len(reader.sitemaps)
        notice = f"the sitemap is broken ({error}); {found:,} URLs were read before that"
    if notice is None and reader.refused:
        notice = f"{reader.refused:,} entries of the sitemap are no URLs of http or https"
    return Sitemap(tuple(reader.urls.values()), tuple(reader.sitemaps.values()), notice)


class _BrokenOffError(Exception):
    """The compressed data is cut off or damaged, or elements are nested too deeply."""


class _RootFound(Exception):  # noqa: N818 - a signal, not an error
    """The name of the root element is known; the rest is not parsed."""


def _head(body: bytes) -> bytes:
    if not body.startswith(_GZIP):
        return body[:_HEAD]
    try:
        return zlib.decompressobj(wbits=31).decompress(body, _HEAD)
    except zlib.error:
        return b""


def _decompressed(body: bytes, max_bytes: int) -> Iterator[bytes]:
    """Yield a body in pieces, decompressed where it is gzipped, one piece at a time in memory."""
    if not body.startswith(_GZIP):
        if len(body) > max_bytes:
            raise SitemapError(f"the sitemap is larger than {max_bytes:,} bytes")
        yield body
        return
    source, sent, size = BytesIO(body), b"", 0
    for _ in range(_MOST_MEMBERS):
        stream = zlib.decompressobj(wbits=31)
        while not stream.eof:
            sent = sent or source.read(_HEAD)
            try:
                piece = stream.decompress(sent, _HEAD)
            except zlib.error:
                raise _BrokenOffError("its compression is damaged") from None
            if not sent and not piece:
                raise _BrokenOffError("its compressed data ends early")
            size += len(piece)
            if size > max_bytes:
                raise SitemapError(f"the sitemap is larger than {max_bytes:,} bytes when it is decompressed")
            yield piece
            sent = stream.unconsumed_tail
        sent = stream.unused_data
        if len(sent) < len(_GZIP):
            sent += source.read(_HEAD)
        if not sent.startswith(_GZIP):
            return  # the end, or padding
    raise _BrokenOffError("it is compressed in too many parts")


def _root(head: bytes) -> str:
    """Return the local name of the root element in lower case, "" where there is none."""
    names: list[str] = []

    def first(name: str, *_: object) -> None:
        names.append(name)
        raise _RootFound

    parser = expat.ParserCreate()
    parser.StartElementHandler = first
    parser.StartDoctypeDeclHandler = first
    with suppress(_RootFound, expat.ExpatError, ValueError, LookupError):
        parser.Parse(head.lstrip(), False)
    return _local_name(names[0]) if names else ""


def _local_name(name: str) -> str:
    return name.rpartition(":")[2].lower()


class _XmlReader:
    """Collects `<loc>` and similar children of an entry, in any namespace.

    `<image:loc>` in an `<image:image>` is no child of an entry, so it is ignored; undeclared prefixes do no harm.
    """

    def __init__(self, base_url: str, entries: tuple[str, ...]) -> None:
        self.urls: dict[str, SitemapEntry] = {}
        self.sitemaps: dict[str, SitemapEntry] = {}
        self.refused = 0
        self._base_url = base_url
        self._entries = entries
        self._above: list[str] = []
        self._text: list[str] | None = None
        self._url: str | None = None
        self._date: str | None = None
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def feed(self, piece: bytes) -> None:
        self._parser.Parse(piece, False)

    def close(self) -> None:
        self._parser.Parse(b"", True)

    def _doctype(self, *_: object) -> None:
        raise SitemapError("the sitemap has a document type declaration, which is not read: it may hold an XML bomb")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        above = self._above
        name = _local_name(name)
        if above and above[-1] in self._entries:
            if name in _URLS or name in _DATES:
                self._text = []
                self._parser.CharacterDataHandler = self._text.append
            if name == "link" and not self._url and attributes.get("rel", "alternate") == "alternate":
                self._url = attributes.get("href")
        above.append(name)
        if len(above) > _DEEPEST:
            raise _BrokenOffError("its elements lie too deep in each other")

    def _end(self, name: str) -> None:
        name = self._above.pop()
        if self._text is not None:
            text = "".join(self._text).strip()
            self._parser.CharacterDataHandler = None
            self._text = None
            if name in _URLS:
                self._url = self._url or text
            elif name in _DATES:
                self._date = self._date or text[:64]
        elif name in self._entries:
            self._take(name)

    def _take(self, name: str) -> None:
        url = normal_form(self._url, self._base_url) if self._url else None
        if url is None:
            self.refused += 1
        else:
            (self.sitemaps if name == "sitemap" else self.urls)[url] = SitemapEntry(url, self._date or None)
        self._url = self._date = None


def _is_list_of_urls(head: bytes) -> bool:
    text = decode(head).text
    return _TEXT_LINES.fullmatch(text if len(head) < _HEAD else text.rpartition("\n")[0]) is not None


def _read_text(body: bytes, base_url: str, max_bytes: int) -> Sitemap:
    pieces: list[bytes] = []
    broken = None
    try:
        pieces.extend(_decompressed(body, max_bytes))
    except _BrokenOffError as error:
        broken = f"the sitemap is broken ({error})"
    lines = [line.strip() for line in decode(b"".join(pieces)).text.splitlines()]
    found = [normal_form(line, base_url) if "://" in line[:LONGEST_URL] else None for line in lines if line]
    urls = dict.fromkeys(url for url in found if url is not None)
    refused = found.count(None)
    notice = f"{refused:,} lines of the sitemap are no URLs of http or https" if refused else None
    return Sitemap(tuple(map(SitemapEntry, urls)), notice=broken or notice)
