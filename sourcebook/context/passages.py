"""Passages of a search as a context takes them: each with its exact span, its sentences and the place of each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final
from zlib import crc32

from sourcebook.context.fence import Harmless, harmless
from sourcebook.contract.search_results import SearchResult
from sourcebook.model.passage_part import PassagePart
from sourcebook.model.place import address_of
from sourcebook.search.sentences import Span, sentence_spans

_WORD: Final = re.compile(r"\w+")
_DIGIT: Final = re.compile(r"\d")
_SHORT: Final = 0xFFFFF
"""Largest number of a word: numbers of three words stay below 2^30, with which Python counts fastest."""
_LETTERS_A_SHINGLE: Final = 5
_LONG_WORD: Final = 15
"""Letters of the words of a text, on average, from which it is one without spaces between words."""
_FULL_STOPS: Final = "।॥۔؟።"
_FULL_STOP: Final = re.compile(rf"([{_FULL_STOPS}])\s+")
"""Ends of sentences in Devanagari, Bengali, Urdu, Arabic and Ethiopic, beside those that every search knows."""
_SKETCH: Final = 8
"""Shingles of a sketch."""
CUT_MARK: Final = "[…]"
"""Words in place of a part that is left out."""


@dataclass(frozen=True)
class ContextPassage:
    """A passage, or the part of one that fits."""

    result: SearchResult
    """The result that it comes with, which says everything about the document."""
    rank: int
    """Place of the result in the search, counted from 0."""
    ordinal: int
    lead: str
    """Context that the passage repeats from further up, such as the header of its table; it has no span."""
    own: str
    """Text from `start` to `end` of the document's Markdown."""
    start: int
    end: int
    place: PassagePart
    """Place of its beginning."""
    sections: tuple[PassagePart, ...] = ()
    """Parts with places of their own; they begin at characters of the lead and the text."""
    best: int = 0
    """Start in its text of what answers best, in characters."""
    is_cut: bool = False
    is_linked: bool = False
    """Whether the search did not find it: a document that it found refers to this one."""

    @property
    def document(self) -> tuple[int, int]:
        """Generation and document."""
        return self.result.generation, self.result.document_id

    @property
    def key(self) -> tuple[int, int, int]:
        """Identity within a search: generation, document and place."""
        return (*self.document, self.ordinal)

    @cached_property
    def shown_lead(self) -> str:
        """The repeated context as a model reads it."""
        return harmless(self.lead.rstrip()).text if self.lead else ""

    @cached_property
    def shown(self) -> Harmless:
        """The text as a model reads it."""
        return harmless(self.own)

    @property
    def text(self) -> str:
        """Everything that a model reads of it."""
        return f"{self.shown_lead}\n{self.shown.text}" if self.shown_lead else self.shown.text

    @cached_property
    def sentences(self) -> list[Span]:
        """Spans of the sentences and lines of its text."""
        spans = sentence_spans(self.own)
        if not any(stop in self.own for stop in _FULL_STOPS):
            return spans
        return [part for span in spans for part in _split(self.own, *span)]

    @cached_property
    def words(self) -> list[str]:
        """Words of its text."""
        return words_of(self.own)

    @cached_property
    def exact(self) -> str:
        """Its words as one text: equal ones are duplicates."""
        return " ".join(self.words)

    @cached_property
    def shingles(self) -> frozenset[int]:
        """Runs of its words as numbers."""
        return shingles_of(self.words)

    @cached_property
    def sketch(self) -> list[int]:
        """The smallest of these numbers, by which passages that may be alike are found."""
        return sorted(self.shingles)[:_SKETCH]

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Words with digits."""
        return frozenset(numbers_of(self.words))

    def place_at(self, offset: int) -> PassagePart:
        """Return the place of a character of its text."""
        found = self.place
        for section in self.sections:
            if section.start <= offset + len(self.lead):
                found = section
        return found

    def address_at(self, offset: int) -> str:
        """Return the address of a character of its text."""
        return address_of(self.result.uri, self.place_at(offset)) if self.sections else self._address

    @cached_property
    def _address(self) -> str:
        return address_of(self.result.uri, self.place)

    def part(self, start: int, end: int, *, is_cut: bool = True) -> "ContextPassage":
        """Return the part of its text between two characters, without the repeated context where it begins later."""
        lead = "" if start else self.lead
        gone = len(self.lead) - len(lead) + start
        sections = tuple(replace(each, start=max(0, each.start - gone)) for each in self.sections)
        return ContextPassage(
            self.result,
            self.rank,
            self.ordinal,
            lead,
            self.own[start:end],
            self.start + start,
            self.start + end,
            self.place_at(start),
            sections,
            max(0, self.best - start),
            self.is_cut or is_cut,
            self.is_linked,
        )

    def without_lead(self) -> "ContextPassage":
        """Return the passage without the repeated context."""
        sections = tuple(replace(each, start=max(0, each.start - len(self.lead))) for each in self.sections)
        return replace(self, lead="", sections=sections)


def _split(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of a line in scripts with full stops of their own, without the white space between."""
    for found in _FULL_STOP.finditer(text, start, end):
        yield start, found.end(1)
        start = found.end()
    if start < end:
        yield start, end


def passages_of(results: Sequence[SearchResult], first_rank: int = 0) -> Iterator[ContextPassage]:
    """Yield the passages of results, best first; with neighbours, the one that was found before those around it."""
    for rank, result in enumerate(results, start=first_rank):
        if not result.parts:
            yield _passage(result, rank, result.ordinal, result.text, result.start_char, result.end_char)
            continue
        for part in sorted(result.parts, key=lambda each: (not each.is_hit, abs(each.ordinal - result.ordinal))):
            if part.ordinal == result.ordinal:
                yield _passage(result, rank, part.ordinal, part.text, part.start_char, part.end_char)
            else:
                place = PassagePart(0, (), part.anchor, part.page, part.start_seconds, part.end_seconds)
                yield _passage(result, rank, part.ordinal, part.text, part.start_char, part.end_char, place)


def _passage(
    result: SearchResult, rank: int, ordinal: int, text: str, start: int, end: int, place: PassagePart | None = None
) -> ContextPassage:
    length = end - start
    lead = text[: len(text) - length] if 0 < length <= len(text) else ""
    own = text[len(lead) :]
    if place is not None:
        return ContextPassage(result, rank, ordinal, lead, own, start, start + len(own), place)
    sections = result.sections
    first = sections[0] if sections else _place_of(result)
    best = max(0, result.snippet_start - len(lead))
    return ContextPassage(result, rank, ordinal, lead, own, start, start + len(own), first, sections, best)


def _place_of(result: SearchResult) -> PassagePart:
    return PassagePart(0, result.heading_path, result.anchor, result.page, result.start_seconds, result.end_seconds)


def words_of(text: str) -> list[str]:
    """Return the words of a text without regard to case."""
    words: list[str] = _WORD.findall(text.casefold())
    return words


def numbers_of(words: Iterable[str]) -> Iterator[str]:
    """Yield the words that have digits."""
    return (word for word in words if not word.isalpha() and _DIGIT.search(word))


def shingles_of(words: Sequence[str]) -> frozenset[int]:
    """Return a number for each run of three words, or of five letters in scripts without spaces."""
    text = " ".join(words)
    if len(text) > _LONG_WORD * len(words):
        starts = range(len(text) - _LETTERS_A_SHINGLE + 1)
        return frozenset(map(_code, [text[at : at + _LETTERS_A_SHINGLE] for at in starts]))
    codes = list(map(_short_code, words))
    runs = zip(codes, codes[1:], codes[2:], strict=False)
    return frozenset([(first * 31 + second) * 31 + third for first, second, third in runs])


@lru_cache(maxsize=65_536)
def _short_code(word: str) -> int:
    return _code(word) & _SHORT


def _code(word: str) -> int:
    """Return the number of a word or a run of letters, the same in every process."""
    return crc32(word.encode("utf-8", "replace"))
