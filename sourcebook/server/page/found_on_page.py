"""Results as the page shows them: the snippet, the place, the relevance in words, and how to cite."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sourcebook.contract.search_results import SearchResult, printable
from sourcebook.model.place import address_of, place_words
from sourcebook.server.page.citing import citations_of
from sourcebook.server.page.document_files import has_pages
from sourcebook.server.page.rendering import web_address
from sourcebook.server.page.said_places import said_place
from sourcebook.server.page.translation import gettext

_EMPTY_LINES: Final = re.compile(r"\n(?:[ \t]*\n)+")
_WRAPPED: Final = re.compile(r"[ \t]*\n(?![-*+|>#\d])")
"""End of a line that goes on in the next one."""
_MARKS: Final = re.compile(r"^#{1,6} |\*\*", re.MULTILINE)
RELEVANT: Final = 0.5
"""Relevance from which on the page calls a passage relevant."""
RELEVANCES: Final = (
    (0.75, "very relevant"),
    (RELEVANT, "relevant"),
    (0.2, "partly relevant"),
    (0.0, "hardly relevant"),
)
"""Relevance from which on words hold."""


@dataclass(frozen=True, slots=True)
class FoundOnPage:
    """A result as the page shows it."""

    hit: SearchResult
    snippet: list[tuple[str, bool]]
    """Pieces of the snippet, and whether each is a word of the query."""
    place: str
    source: str | None
    """Address of the source at its page, second or anchor; None where it is no page of the web."""
    relevance: str
    citations: Mapping[str, str]
    """Citations by the name of their form."""
    page: int | None
    """Page of a PDF that can be shown as it looks."""


def shown_hit(hit: SearchResult, server: str) -> FoundOnPage:
    """Return a result as the page shows it.

    Args:
        hit: the result.
        server: address of this server as the reader knows it, with a slash at its end.
    """
    snippet, done = [], 0
    for start, end in hit.snippet_highlights:
        snippet += [(readable(hit.snippet[done:start]), False), (readable(hit.snippet[start:end]), True)]
        done = end
    snippet.append((readable(hit.snippet[done:]), False))
    words = place_words(hit, hit.title, hit.metadata)
    source = source_address(hit)
    return FoundOnPage(
        hit=hit,
        snippet=[piece for piece in snippet if piece[0]],
        place=printable(" · ".join(map(said_place, words))),
        source=source,
        relevance=relevance_words(hit.relevance),
        citations=citations_of(hit, words, source, server),
        page=hit.page if has_pages(hit.media_type) else None,
    )


def relevance_words(relevance: float) -> str:
    """Return a relevance from 0 to 1 in words."""
    return gettext(next(words for least, words in RELEVANCES if relevance >= least))


def readable(piece: str) -> str:
    """Return a piece of a passage with a line for each paragraph or item, without marks of headings and bold text."""
    paragraphs = (_WRAPPED.sub(" ", part) for part in _EMPTY_LINES.split(piece))
    return printable(_MARKS.sub("", "\n".join(paragraphs)))


def source_address(hit: SearchResult) -> str | None:
    """Return the address of the source of a result at its page, second or anchor; None where it is not of the web."""
    return web_address(address_of(hit.link or hit.uri, hit))
