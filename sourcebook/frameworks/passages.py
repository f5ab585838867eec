"""Passages of a search as frameworks take them: a text, an id that lasts, and metadata of plain JSON values."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from sourcebook.contract.search_results import SearchResult
from sourcebook.model.page_labels import page_label
from sourcebook.model.passage_part import PassagePart
from sourcebook.model.place import address_of, joined_lines, time_span

_DIGITS: Final = 32
"""Hexadecimal digits of an id: 128 bits."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that a search found. All but `relevance` and `score` is the same whatever the query was."""

    id: str
    """Hash of collection, URI, headings and text, as they are shown: the same after each publication of the same."""
    text: str
    """The passage; with neighbours the passages around it, too."""
    metadata: dict[str, Any]
    document: str
    """Id of its document that lasts, by collection and URI."""
    start_char: int
    """Start in the document's Markdown, in characters."""
    end_char: int
    relevance: float
    """How likely it answers the query, 0 to 1."""
    score: float
    """The fused score; comparable within one search only."""


def passages_of(results: Iterable[SearchResult]) -> list[Passage]:
    """Return the passages of results, in their order.

    Where passages of a document have the same headings and the same text, the first one in reading order has the id,
    and the others have it with a number behind.
    """
    shown = list(results)
    ids: dict[int, str] = {}
    seen: Counter[str] = Counter()
    for index in sorted(range(len(shown)), key=lambda index: (shown[index].document_id, shown[index].ordinal)):
        base = _passage_id(shown[index])
        seen[base] += 1
        ids[index] = base if seen[base] == 1 else f"{base}-{seen[base]}"
    return [_passage(result, ids[index]) for index, result in enumerate(shown)]


def _passage(result: SearchResult, passage_id: str) -> Passage:
    return Passage(
        id=passage_id,
        text=result.context_text,
        metadata=_metadata(result),
        document=_digest(result.collection, result.uri),
        start_char=result.start_char,
        end_char=result.end_char,
        relevance=result.relevance,
        score=result.score,
    )


def _metadata(result: SearchResult) -> dict[str, Any]:
    place = _place(result)
    return {
        "source": address_of(result.uri, place),
        "title": result.title,
        "uri": result.uri,
        "collection": result.collection,
        "document_id": result.document_id,
        "version": result.version,
        "heading_path": list(place.heading_path),
        "anchor": place.anchor,
        "page": place.page,
        "page_label": page_label(place.page, result.metadata),
        "start_seconds": place.start_seconds,
        "end_seconds": place.end_seconds,
        "time_span": time_span(place.start_seconds, place.end_seconds),
        "ordinal": result.ordinal,
        "start_char": result.start_char,
        "end_char": result.end_char,
        "kind": result.kind,
        "media_type": result.media_type,
        "language": result.language,
        "tags": list(result.tags),
        "link": result.link,
        "superseded_by": [
            {"document_id": each.document_id, "uri": each.uri, "title": each.title} for each in result.superseded_by
        ],
        "also_in": [{"document_id": each.document_id, "uri": each.uri, "title": each.title} for each in result.also_in],
        "versions": [
            {"document_id": each.document_id, "uri": each.uri, "title": each.title} for each in result.versions
        ],
        "metadata": dict(result.metadata),
    }


def _place(result: SearchResult) -> PassagePart:
    """Return the place where the passage begins: that of a result is where the words of its query stand."""
    if not result.sections:
        return PassagePart(0, result.heading_path, result.anchor, result.page, result.start_seconds, result.end_seconds)
    first, last = result.sections[0], result.sections[-1]
    return replace(first, anchor=joined_lines(first.anchor, last.anchor), end_seconds=last.end_seconds)


def _passage_id(result: SearchResult) -> str:
    headings = [part.heading_path for part in result.sections] or [result.heading_path]
    return _digest(result.collection, result.uri, *("\n".join(path) for path in headings), result.text)


def _digest(*parts: str) -> str:
    """Return a hash of texts; each one's length stands before it, so that no two lists of texts run together."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
