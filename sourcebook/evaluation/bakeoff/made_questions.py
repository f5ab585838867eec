"""Questions that are made from documents: question-and-answer pairs, and headings with the text below them.

A question's own words are taken out of the document that answers it: otherwise every index would find it by them.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, zip_longest
from typing import Final, Literal

from sourcebook.model.document import Block, ParsedDocument

Kind = Literal["pair", "heading"]
Span = tuple[int, int]

LEAST_WORDS: Final = 3
"""Words of a question: the heading "Limits" could be asked of many sections."""
LEAST_ANSWER: Final = 100
"""Characters of the text that answers a question, at least."""
MOST_QUESTION: Final = 300
"""Characters of a question, at most."""
_ENDS: Final = ("?", "？", "؟", "՞", "⸮")
"""Question marks at the end of a question."""
_LABEL = re.compile(
    r"^(?:q|question|f|frage|question\s*n?|p|pregunta|d|domanda|в|вопрос|問|问)\s*\d*\s*[:.)：]\s*", re.IGNORECASE
)
_NUMBER = re.compile(r"^(?:[§(]?\s*\d+(?:[.)]\d*)*|[A-Z][.)])\s+")
_MARKS = re.compile(r"[*_`]+|^>\s*|^#+\s*|\\(?=\W)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_WORDLESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
"""Letters of scripts that write words without spaces between them, two of which count as a word."""


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question whose answer is in the document that it comes from."""

    text: str
    document: int
    """Id of the document."""
    kind: Kind
    span: Span
    """`(start, end)` of the question in the document's Markdown, in characters."""
    answer: Span
    """`(start, end)` of the text behind it, up to the next heading or question."""


def made_questions(documents: Mapping[int, ParsedDocument], limit: int) -> list[MadeQuestion]:
    """Return questions with their documents: pairs first, and in turn one of each document.

    A text that is asked twice, or is the title of another document, asks for no single one and is left out.

    Args:
        documents: the documents by their ids.
        limit: the most questions.
    """
    found = {number: [*_questions(number, document)] for number, document in documents.items()}
    times = Counter(_plain(question.text) for questions in found.values() for question in questions)
    titled: defaultdict[str, set[int]] = defaultdict(set)
    for number, document in documents.items():
        titled[_plain(document.title or "")].add(number)
    sound = [
        [each for each in questions if times[_plain(each.text)] == 1 and not titled[_plain(each.text)] - {number}]
        for number, questions in found.items()
    ]
    in_turn = [question for turn in zip_longest(*sound) for question in turn if question is not None]
    return sorted(in_turn, key=lambda question: question.kind != "pair")[:limit]


def without_questions(document: ParsedDocument, questions: Sequence[MadeQuestion]) -> ParsedDocument:
    """Return a document without its questions; what follows moves up, and a title that is one of them goes, too.

    Args:
        document: the document.
        questions: its questions.
    """
    gone = sorted(question.span for question in questions)
    moved = moved_places(questions)
    is_title = _plain(document.title or "") in {_plain(question.text) for question in questions}
    blocks = (replace(block, start=moved(block.start), end=moved(block.end)) for block in document.blocks)
    pieces = zip([0, *(end for _, end in gone)], [*(start for start, _ in gone), None], strict=True)
    return replace(
        document,
        markdown="".join(document.markdown[start:end] for start, end in pieces),
        blocks=tuple(block for block in blocks if block.start < block.end),
        title=None if is_title else document.title,
    )


def moved_places(questions: Sequence[MadeQuestion]) -> Callable[[int], int]:
    """Return a function that returns the place in a document without its questions of a place in the document."""
    gone = sorted(question.span for question in questions)
    starts = [start for start, _ in gone]
    before = [0, *accumulate(end - start for start, end in gone)]

    def moved(place: int) -> int:
        number = bisect_left(starts, place)
        return place - before[number] + (max(gone[number - 1][1] - place, 0) if number else 0)

    return moved


def _questions(number: int, document: ParsedDocument) -> Iterator[MadeQuestion]:
    blocks = document.blocks
    for position, block in enumerate(blocks):
        end = _end_of_question(document.markdown, block)
        text = _text(block.title if block.kind == "heading" else document.markdown[block.start : end])
        is_pair = text.endswith(_ENDS)
        is_heading = block.kind == "heading" and block.level > 1 and _plain(text) != _plain(document.title or "")
        if not (is_pair or is_heading) or _words(text) < LEAST_WORDS or end - block.start > MOST_QUESTION:
            continue
        last = _last_of_answer(document.markdown, blocks, position)
        if blocks[last].end - end >= LEAST_ANSWER:
            span, answer = (block.start, end), (end, blocks[last].end)
            yield MadeQuestion(text, number, "pair" if is_pair else "heading", span, answer)


def _end_of_question(markdown: str, block: Block) -> int:
    """Return the end of the question that a block may begin with: of a heading, or of a paragraph's first line."""
    if block.kind == "paragraph":
        end = markdown.find("\n", block.start, block.end)
        line = markdown[block.start : block.end if end < 0 else end]
        return block.start if "](" in line or not _text(line).endswith(_ENDS) else block.start + len(line)
    return block.end if block.kind == "heading" else block.start


def _text(written: str) -> str:
    """Return a question without its Markdown, its number and its label."""
    return _NUMBER.sub("", _LABEL.sub("", " ".join(_MARKS.sub("", written).split())))


def _last_of_answer(markdown: str, blocks: Sequence[Block], position: int) -> int:
    """Return the position of the last block before the next heading; behind a paragraph, before the next question."""
    is_heading = blocks[position].kind == "heading"
    for following in range(position + 1, len(blocks)):
        block = blocks[following]
        if block.kind == "heading" or (not is_heading and _end_of_question(markdown, block) > block.start):
            return following - 1
    return len(blocks) - 1


def _words(text: str) -> int:
    return len(_WORD.findall(_WORDLESS.sub(" ", text))) + len(_WORDLESS.findall(text)) // 2


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
