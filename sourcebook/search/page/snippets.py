"""Snippet of a passage: the window of whole sentences or lines that answers the query best."""

from collections.abc import Sequence
from typing import Final

from sourcebook.search.ranking.highlights import Highlight
from sourcebook.search.sentences import Span, sentence_spans

MOST_CHARACTERS: Final = 320
"""Characters of a snippet, at most."""
REPEATED: Final = 0.1
"""Share of its weight that a word adds when it occurs again in the window."""


def snippet_span(text: str, highlights: Sequence[Highlight]) -> Span:
    """Return (start, end) of the snippet of a passage, in characters.

    It is the run of sentences or lines within `MOST_CHARACTERS` whose words of the query weigh most, each counted once
    and its repetitions by a tenth; the shortest of several, extended to the following sentences. A sentence that is
    longer is cut at words around its densest part. Without highlights it is the beginning of the passage.
    """
    segments = sentence_spans(text)
    if not segments:
        return 0, 0
    first, last = _best_run(segments, highlights)
    start, end = segments[first][0], segments[last][1]
    if end - start > MOST_CHARACTERS:
        return _cut(text, start, end, [each for each in highlights if start <= each.start and each.end <= end])
    for later in segments[last + 1 :]:
        if later[1] - start > MOST_CHARACTERS:
            break
        end = later[1]
    return start, end


def _best_run(segments: Sequence[Span], highlights: Sequence[Highlight]) -> tuple[int, int]:
    """Return (first, last) of the segments that weigh most; a segment alone may be too long."""
    held: list[list[Highlight]] = [[] for _ in segments]
    number = 0
    for each in highlights:
        while number + 1 < len(segments) and segments[number + 1][0] <= each.start:
            number += 1
        held[number].append(each)
    best, best_key = (0, 0), (0.0, 0)
    for first, (start, _) in enumerate(segments):
        if not held[first]:
            continue
        counted: set[str] = set()
        weight = 0.0
        for last in range(first, len(segments)):
            end = segments[last][1]
            if last > first and end - start > MOST_CHARACTERS:
                break
            for each in held[last]:
                weight += each.weight * (REPEATED if each.token in counted else 1.0)
                counted.add(each.token)
            if held[last] and (weight, start - end) > best_key:
                best, best_key = (first, last), (weight, start - end)
    return best


def _cut(text: str, start: int, end: int, highlights: Sequence[Highlight]) -> Span:
    """Return the part of a long sentence or line with the weightiest words, cut at white space where there is some."""
    begin = start
    best = -1.0
    for number, each in enumerate(highlights):
        window = [other for other in highlights[number:] if other.end <= each.start + MOST_CHARACTERS]
        weight = sum({other.token: other.weight for other in window}.values()) + REPEATED * len(window)
        if weight > best:
            middle = (each.start + window[-1].end) // 2 if window else each.start
            best, begin = weight, max(start, min(each.start, middle - MOST_CHARACTERS // 2))
    stop = min(end, begin + MOST_CHARACTERS)
    begin = max(start, stop - MOST_CHARACTERS)
    inside = [each for each in highlights if begin <= each.start and each.end <= stop]
    if begin > start:
        latest = min([begin + MOST_CHARACTERS // 4, *(each.start for each in inside)])
        begin = text.find(" ", begin, latest) + 1 or begin
    if stop < end:
        earliest = max([stop - MOST_CHARACTERS // 4, *(each.end for each in inside)])
        space = text.rfind(" ", earliest, stop)
        stop = space if space > begin else stop
    return begin, stop
