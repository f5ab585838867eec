"""Citations, each checked against the text that it names: its quotation, or else the sentence that bears it out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sourcebook.answering.sources import Sources
from sourcebook.contract.answers import Citation, RemovedCitation, Source
from sourcebook.search.sentences import sentence_spans

LEAST_SHARE: Final = 0.3
"""Share of the words of a statement that a sentence must hold to bear it out, where nothing is quoted."""
_FEWEST_WORDS: Final = 2
"""Words that both must have, unless the statement has fewer."""
_SHORTEST_QUOTATION: Final = 6
"""Letters and digits of a quotation; shorter ones prove nothing, and the sentence is looked for."""
_SHORTEST_WORD: Final = 4
_STEM: Final = 6
"""Letters by which words are compared, so that inflections are alike."""
_LONGEST_QUOTE: Final = 600
"""Characters of the sentence that a citation shows."""
_WORD: Final = re.compile(r"\w+")
_WITHOUT_SPACES: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Characters of scripts whose words are not told by spaces or are long compounds: pairs of them are compared."""
_NUMBER: Final = re.compile(r"\d+")
_THOUSANDS: Final = re.compile(r"(?<=\d)[,.'\u2019\u00a0\u202f ](?=\d{3}(?!\d))")
_ELLIPSIS: Final = re.compile(r"\s*(?:…|\.{3})\s*")


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation as the model wrote it."""

    numbers: tuple[int, ...]
    quotation: str | None


def check(mark: Mark, statement: str, question: str, sources: Sources) -> tuple[list[Citation], list[RemovedCitation]]:
    """Return the citations of a mark that hold, and those that do not.

    What is quoted must stand in the source. Without a quotation, a sentence of the source must share words with the
    statement, and the numbers of the statement must stand in the cited sources.

    Args:
        mark: the mark.
        statement: the sentence that it stands behind.
        question: the question, whose words count for a statement that has next to none, such as `Yes.`
        sources: what the model was shown.
    """
    held, removed = [], []
    named = {number: sources.get(number) for number in mark.numbers}
    texts = [source.text for source in named.values() if source is not None]
    bears_numbers = _numbers(statement) <= {number for text in texts for number in _numbers(text)}
    for number, source in named.items():
        if source is None:
            removed.append(RemovedCitation(number, "no_such_source"))
            continue
        if mark.quotation is not None and sum(map(str.isalnum, mark.quotation)) >= _SHORTEST_QUOTATION:
            span = quoted_span(source.text, mark.quotation)
        else:
            span = sentence_span(source.text, statement, question) if bears_numbers else None
        if span is None:
            removed.append(RemovedCitation(number, "not_in_source"))
        else:
            held.append(_citation(source, *span))
    return held, removed


def _citation(source: Source, start: int, end: int) -> Citation:
    place = source.place(start, end)
    first, last = place if place is not None else (None, None)
    return Citation(source.number, source.text[start:end], start, end, first, last)


def quoted_span(text: str, quotation: str) -> tuple[int, int] | None:
    """Return where a quotation stands in a text, by its letters and digits; None where it does not.

    Case, white space and punctuation may differ, and an ellipsis stands for anything.
    """
    letters, places = _letters(text)
    begin, at = None, 0
    last = 0
    for part in _ELLIPSIS.split(quotation):
        wanted, _ = _letters(part)
        if not wanted:
            continue
        found = letters.find(wanted, at)
        if found < 0:
            return None
        begin = places[found] if begin is None else begin
        at = found + len(wanted)
        last = places[at - 1] + 1
    return None if begin is None else (begin, last)


def sentence_span(text: str, statement: str, question: str) -> tuple[int, int] | None:
    """Return the sentence of a text that shares most words with a statement; None where none shares enough."""
    wanted = _words(statement)
    if len(wanted) < 2:
        wanted |= _words(question)
    if not wanted:
        return None
    best, most = None, 0
    for start, end in sentence_spans(text):
        shared = len(wanted & _words(text[start:end]))
        if shared > most:
            best, most = (start, end), shared
    if best is None or most < max(min(_FEWEST_WORDS, len(wanted)), LEAST_SHARE * len(wanted)):
        return None
    return best[0], min(best[1], best[0] + _LONGEST_QUOTE)


def speaks_of(text: str, question: str) -> bool:
    """Return whether a text shares as many words with a question as a sentence must share with a statement."""
    wanted = _words(question)
    return len(wanted & _words(text)) >= max(min(_FEWEST_WORDS, len(wanted)), LEAST_SHARE * len(wanted))


def _letters(text: str) -> tuple[str, Sequence[int]]:
    """Return the letters and digits of a text without case, and the place of each in the text."""
    found: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isalnum():
            for folded in character.casefold():
                found.append(folded)
                places.append(place)
    return "".join(found), places


def _numbers(text: str) -> set[str]:
    """Return the numbers of a text with two digits and more, without separators of thousands."""
    return {found for found in _NUMBER.findall(_THOUSANDS.sub("", text)) if len(found) > 1}


def _words(text: str) -> set[str]:
    """Return the words of a text by which sentences are compared: numbers, and beginnings of longer words."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _WITHOUT_SPACES.search(word):
            found |= {word[at : at + 2] for at in range(max(1, len(word) - 1))}
        elif len(word) >= _SHORTEST_WORD or any(map(str.isdigit, word)):
            found.add(word[:_STEM])
    return found
