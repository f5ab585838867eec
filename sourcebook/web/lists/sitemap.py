"""Read sitemaps: XML, an index of others, plain text, and RSS or Atom feeds, each also gzipped.

Expat reads them, as defusedxml uses it: a document type declaration ends the reading, so no entity is ever declared,
and nothing is fetched.
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
"""Parts of a gzip file; tools that compress in parallel write one for each 64 KiB or more."""
_ENTRIES = {
    "urlset": ("url", "sitemap"),
    "sitemapindex": ("sitemap", "url"),
    "rss": ("item",),
    "rdf": ("item",),
    "feed": ("entry",),
}
"""Which elements are entries, by the root element."""
_URLS = frozenset({"loc", "link"})
_DATES = frozenset({"lastmod", "pubdate", "updated", "date"})
_TEXT_LINES = re.compile(r"\s*(?:https?://\S+[ \t]*(?:\r?\n\s*|\Z))+", re.IGNORECASE)


class SitemapError(SourcebookError):
    """A sitemap cannot be read; the message is the reason a person reads."""


class SitemapEntry(NamedTuple):
    """One URL that a sitemap names. A tuple, because there are many."""

    url: str
    """In normal form."""
    last_modified: str | None = None
    """What the sitemap says, as it is written: worth a comparison with what it said before, not more."""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap names, in its order and without repetition. Other hosts' URLs are among it where it names any."""

    urls: tuple[SitemapEntry, ...]
    sitemaps: tuple[SitemapEntry, ...] = ()
    """The further sitemaps that an index names."""
    notice: str | None = None
    """What is wrong with it: where the reading stopped, or how many entries are no URLs."""


def looks_like_sitemap(body: bytes) -> bool:
    """Return whether a body is a sitemap or a feed, by its content.

    A body with a root element of that kind is one, though `read_sitemap` may refuse it.
    """
    head = _head(body)
    return _root(head) in _ENTRIES or _is_list_of_urls(head)


def read_sitemap(body: bytes, base_url: str, *, max_bytes: int) -> Sitemap:
    """Read a sitemap; where the XML or the compression breaks off, what came before is kept, with a notice.

    Args:
        body: as it was sent; gzip is decompressed here.
        base_url: where it was found; relative URLs are resolved against it.
        max_bytes: how large it may be decompressed.

    Raises:
        SitemapError: it is none, it is too large, or it has a document type declaration.
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
        # White space in front of the XML declaration is an error to expat, and common.
        lead = True
        for piece in _decompressed(body, max_bytes):
            if lead and not (piece := piece.lstrip()):
                continue
            lead = False
            reader.feed(piece)
        reader.close()
    except (expat.ExpatError, ValueError, LookupError, _BrokenOffError) as error:
        # Expat raises a ValueError or LookupError for an encoding that it does not know.
        found = len(reader.urls) + len(reader.sitemaps)
        notice = f"the sitemap is broken ({error}); {found:,} URLs were read before that"
    if notice is None and reader.refused:
        notice = f"{reader.refused:,} entries of the sitemap are no URLs of http or https"
    return Sitemap(tuple(reader.urls.values()), tuple(reader.sitemaps.values()), notice)


class _BrokenOffError(Exception):
    """The compression ends early or is damaged, or elements lie too deep."""


class _RootFound(Exception):  # noqa: N818 - a signal, not an error
    """The name of the root element is known, and the rest does not matter."""


def _head(body: bytes) -> bytes:
    if not body.startswith(_GZIP):
        return body[:_HEAD]
    try:
        return zlib.decompressobj(wbits=31).decompress(body, _HEAD)
    except zlib.error:
        return b""


def _decompressed(body: bytes, max_bytes: int) -> Iterator[bytes]:
    """Yield a body in pieces, decompressed where it is gzip; never holds more than one piece."""
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
    """Takes `<loc>` and its like directly within an entry, whatever their namespace is called.

    So `<image:loc>`, which lies in an `<image:image>`, is left out, and an undeclared prefix does no harm.
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
