"""Order among passages of one document: those that say the query word for word stand before those with its words.

BM25 and the vector do not see where words stand. A table of contents has the words of all headings, and a passage that
repeats three words of a sentence ranks before the one with the whole sentence. A citation needs the latter.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sourcebook.model.passage_part import PassagePart
from sourcebook.search.query_terms import WORD
from sourcebook.search.ranking.highlights import Highlight
from sourcebook.search.ranking.sections import heading_end, sections_of

LEAST_AGREEMENT: Final = 0.8
"""Share of the query's weight that stands side by side, at least; passages with less keep their order."""
_TARGET: Final = re.compile(r"(?<=\])\((?:<[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:\s+\"[^\"\n]*\")?\)")
"""Target of a link, which no reader sees."""


@dataclass(frozen=True, slots=True)
class Query:
    """Words and weight of a query, which a passage may say word for word."""

    words: frozenset[str]
    """Its words, stop words included, case-folded."""
    weight: float
    """Weight of its different lexemes, those that no entry holds included."""

    @classmethod
    def of(cls, text: str, highlights: Sequence[Highlight], unknown: float = 0.0) -> "Query":
        """Read a query.

        Args:
            text: the query.
            highlights: its own words that some entry holds.
            unknown: weight of its lexemes that no entry holds: no passage says a query with such words word for word.
        """
        return cls(frozenset(WORD.findall(text.casefold())), _weight(highlights) + unknown)


@dataclass(frozen=True, slots=True)
class PlacedPassage:
    """A passage, with what tells where it says the query."""

    document_id: int
    text: str
    heading_path: tuple[str, ...]
    sections: tuple[PassagePart, ...]
    highlights: Sequence[Highlight]
    ordinal: int
    """Number of the passage in its document."""


def places_in_order(query: Query, passages: Sequence[PlacedPassage]) -> list[int]:
    """Return the order of passages, as places in the list: each document keeps the places that it has.

    Two successive passages may say the query together: a run of words that begins at the end of one and goes on at the
    beginning of the next one counts for the passage with more of it.

    Args:
        query: what is asked for.
        passages: best first.
    """
    agreements = [agreement(query, passage) for passage in passages]
    places = {(passage.document_id, passage.ordinal): place for place, passage in enumerate(passages)}
    for (document, ordinal), place in places.items():
        following = places.get((document, ordinal + 1))
        if following is not None:
            share, is_earlier = _joined(query, passages[place], passages[following])
            heavier = place if is_earlier else following
            agreements[heavier] = max(agreements[heavier], share)
    order = list(range(len(passages)))
    for document in {passage.document_id for passage in passages}:
        held = [place for place in order if passages[place].document_id == document]
        for place, better in zip(held, sorted(held, key=lambda place: -agreements[place]), strict=True):
            order[place] = better
    return order


def agreement(query: Query, passage: PlacedPassage) -> float:
    """Return how far a passage says the query word for word, 0 to 2.

    It is the share of the query's weight that stands side by side, in whichever order, 0 where that is little. A
    heading that holds as much adds the share of its words that are the query's: a heading says what its section is
    about, and an equal line of a table of contents does not.
    """
    if not query.weight:
        return 0.0
    together = max((_weight(run) for run in _runs(query, passage)), default=0.0)
    share = together / query.weight
    if share < LEAST_AGREEMENT:
        return 0.0
    return round(share + max(_of_headings(query, passage), default=0.0), 3)


def _joined(query: Query, earlier: PlacedPassage, later: PlacedPassage) -> tuple[float, bool]:
    """Return the share of the query's weight that the border of two passages parts, and whether more is before it.

    The share is 0 where it is little, or where one of them has nothing of it.
    """
    end, start = list(_runs(query, earlier))[-1:], list(_runs(query, later))[:1]
    if not (query.weight and end and start):
        return 0.0, False
    (before,), (after,) = end, start
    between = earlier.text[before[-1].end :] + "\n" + later.text[: after[0].start]
    if not query.words.issuperset(WORD.findall(between.casefold())):
        return 0.0, False
    share = _weight([*before, *after]) / query.weight
    return (round(share, 3) if share >= LEAST_AGREEMENT else 0.0), _weight(before) > _weight(after)


def _of_headings(query: Query, passage: PlacedPassage) -> Iterator[float]:
    """Yield the share of the query's words in each heading that holds the query."""
    parts = passage.sections or (PassagePart(0, passage.heading_path),)
    for section in sections_of(parts, len(passage.text)):
        begin = section[0]
        end = heading_end(passage.text, section)
        inside = [each for each in passage.highlights if begin <= each.start and each.end <= end]
        if _weight(inside) < LEAST_AGREEMENT * query.weight:
            continue
        words = list(WORD.finditer(passage.text, begin, end))
        asked = sum(
            word[0].casefold() in query.words
            or any(each.start < word.end() and word.start() < each.end for each in inside)
            for word in words
        )
        yield asked / len(words)


def _runs(query: Query, passage: PlacedPassage) -> Iterator[list[Highlight]]:
    """Yield the runs of words of the query: nothing but its stop words and targets of links stand between them."""
    text = _TARGET.sub(lambda found: " " * len(found[0]), passage.text)
    run: list[Highlight] = []
    for each in passage.highlights:
        if text[each.start].isspace():
            continue
        if run and not all(word in query.words for word in WORD.findall(text[run[-1].end : each.start].casefold())):
            yield run
            run = []
        run.append(each)
    if run:
        yield run


def _weight(highlights: Sequence[Highlight]) -> float:
    return sum({each.token: each.weight for each in highlights}.values())
