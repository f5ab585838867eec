"""Best part of a passage: the section, page and time of the words that answer the query."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sourcebook.contract.search_results import SearchResult
from sourcebook.model.passage_part import PassagePart
from sourcebook.search.page.snippets import REPEATED, snippet_span
from sourcebook.search.ranking.highlights import Highlight
from sourcebook.search.ranking.sections import Section, heading_end, sections_of
from sourcebook.search.sentences import Span

_IN_HEADING: Final = 2.0
"""Weight of a query's word in the heading of a section, in occurrences in its text."""


@dataclass(frozen=True, slots=True)
class BestPart:
    """The snippet of a passage, and the place that a citation of it names."""

    snippet: Span
    """(start, end) in the text of the passage, in characters."""
    place: PassagePart | None
    """None where the passage has one place, and where none of its words answers."""


def with_snippet(result: SearchResult, highlights: Sequence[Highlight], nearest: Span | None = None) -> SearchResult:
    """Return a result with highlights, the snippet that they make, and the place of the section that it is of.

    Args:
        result: a result.
        highlights: words of the query in its text, in reading order.
        nearest: span of the sentence that the snippet begins with where there is no highlight.
    """
    answering = highlights
    if nearest is not None and not highlights:
        answering = [Highlight(nearest[0], nearest[0] + 1, 1.0, "")]
    found = best_part(result.text, result.sections, answering)
    start, end = found.snippet
    marked = replace(
        result,
        snippet=result.text[start:end],
        snippet_start=start,
        highlights=tuple((each.start, each.end) for each in highlights),
    )
    if found.place is None:
        return marked
    return replace(
        marked,
        heading_path=found.place.heading_path,
        anchor=found.place.anchor,
        page=found.place.page,
        start_seconds=found.place.start_seconds,
        end_seconds=found.place.end_seconds,
    )


def best_part(text: str, parts: Sequence[PassagePart], highlights: Sequence[Highlight]) -> BestPart:
    """Return the snippet of a passage and its place.

    The snippet is taken from the section whose words of the query weigh most, those of its heading twice. The page is
    that of most of the snippet's words of the query; the time begins with the snippet.

    Args:
        text: the text of the passage.
        parts: parts of the passage in reading order; empty where it has one place.
        highlights: words of the query in the text, in reading order.
    """
    if not parts or not highlights:
        return BestPart(snippet_span(text, highlights), None)
    sections = list(sections_of(parts, len(text)))
    begin, stop, members = max(sections, key=lambda section: _weight(text, section, highlights))
    inside = [
        replace(each, start=each.start - begin, end=each.end - begin) for each in _within(highlights, begin, stop)
    ]
    start, end = snippet_span(text[begin:stop], inside)
    snippet = (start + begin, end + begin)
    return BestPart(snippet, _place(members, snippet, stop, list(_within(highlights, *snippet))))


def _weight(text: str, section: Section, highlights: Sequence[Highlight]) -> float:
    """Return the weight of the query's words in a section: each counts once, its repetitions by a tenth."""
    begin, stop, _ = section
    end_of_heading = heading_end(text, section)
    counted: set[str] = set()
    weight = 0.0
    for each in _within(highlights, begin, stop):
        first = _IN_HEADING if each.start < end_of_heading else 1.0
        weight += each.weight * (REPEATED if each.token in counted else first)
        counted.add(each.token)
    return weight


def _within(highlights: Sequence[Highlight], start: int, end: int) -> Iterator[Highlight]:
    return (each for each in highlights if start <= each.start and each.end <= end)


def _place(parts: Sequence[PassagePart], snippet: Span, stop: int, highlights: Sequence[Highlight]) -> PassagePart:
    """Return the part of most of the snippet's words, from the time of the snippet's start to that of its end."""
    ends = [*(part.start for part in parts[1:]), stop]
    spans = list(zip(parts, ends, strict=True))
    place = max(
        parts,
        key=lambda part: sum(each.weight for each in highlights if part.start <= each.start < ends[parts.index(part)]),
    )
    if place.start_seconds is None:
        return place
    first = next(span for span in spans if snippet[0] < span[1])
    last = next(span for span in spans if snippet[1] <= span[1])
    return replace(place, start_seconds=_seconds(*first, snippet[0]), end_seconds=last[0].end_seconds)


def _seconds(part: PassagePart, end: int, position: int) -> float:
    """Return the time of a position within a segment of speech, as if each letter took as long."""
    started, ended = part.start_seconds or 0.0, part.end_seconds or 0.0
    return round(started + (ended - started) * (position - part.start) / (end - part.start), 2)
