"""Damaged files through the parsers, as files of an ingest go, and what is promised of each.

- It gives a document, or a reason that a person can read. No other file suffers, and none takes more than its time.
- A packed format (PDF, Office, EPUB) that still gives a document gives one of its own words: nine of ten stand in the
  document that the sound file gives. Less than the whole is allowed: what is lost is lost.
- Plain text, HTML, mail and data whose bytes were changed are text with changed bytes, which nobody can tell from
  text. Of them, nine of ten letters must be letters of the sound file, or all but those whose bits were changed: what
  is decoded wrongly has others.
- What was recognised is marked as such: it says what is to be seen on the damaged page, right or wrong.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from pypdfium2 import PdfDocument, PdfiumError  # type: ignore[import-untyped] # has no stubs

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parser_pool import ParserPool, Parsing
from tests.unit.parsing.mutations import MOST_FLIPPED, PICTURES, Mutation, Sample

_AHEAD = 16
_SECONDS = 60
_PACKED = (".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".odt", ".ods", ".odp")
_OWN = 0.9
_OWN_OF_MARKED = 0.5
_SHORTEST_REASON = 15


@dataclass(frozen=True)
class Outcome:
    """What became of a damaged file: a document, or the error that says why there is none."""

    mutation: Mutation
    result: ParsedDocument | ParseError

    @property
    def failure_class(self) -> FailureClass | None:
        """Class of the error; None where there is a document."""
        return self.result.failure_class if isinstance(self.result, ParseError) else None

    @property
    def is_told(self) -> bool:
        """Whether there is a document, or a reason that a person can read."""
        reason = str(self.result) if isinstance(self.result, ParseError) else "there is a document"
        return len(reason) >= _SHORTEST_REASON and "\n" not in reason

    @property
    def is_marked(self) -> bool:
        """Whether a recognised text names its pages, and how sure it is."""
        if isinstance(self.result, ParseError) or not self.result.markdown:
            return True
        metadata = self.result.metadata
        return bool(metadata["recognised_pages"]) and bool(metadata["recognition_confidence"])


def outcomes(pool: ParserPool, damaged: Sequence[Mutation], *, ocr: bool) -> Iterator[Outcome]:
    """Parse damaged files side by side, and yield what became of each."""
    for start in range(0, len(damaged), _AHEAD):
        batch = damaged[start : start + _AHEAD]
        begun = [(each, _begin(pool, each.sample.name, each.content, ocr=ocr)) for each in batch]
        for each, parsing in begun:
            try:
                yield Outcome(each, parsing.result())
            except ParseError as error:
                yield Outcome(each, error)


def sound_texts(pool: ParserPool, samples: Sequence[Sample]) -> dict[str, str]:
    """Return what each sound file holds: its document, and as text all of it; nothing where it cannot be read."""
    begun = [(each, _begin(pool, each.name, each.content, ocr=False)) for each in samples]
    return {each.name: _sound_text(each, parsing) for each, parsing in begun}


def strange(outcome: Outcome, sound: str) -> str:
    """Say how much of a document is not of the sound file, if that is too much and the document does not say so."""
    if isinstance(outcome.result, ParseError):
        return ""
    least = _OWN_OF_MARKED if "damaged_streams" in outcome.result.metadata else _OWN
    packed = outcome.mutation.sample.name.endswith(_PACKED)
    if packed:
        found, own = list(_words(outcome.result.markdown)), _words(sound)
    else:
        found, own = _letters(outcome.result.markdown), set(_letters(sound))
    share = sum(each in own for each in found) / len(found) if found else 1.0
    flipped = not packed and len(found) * (1 - share) <= MOST_FLIPPED
    return "" if share >= least or flipped else f"{outcome.mutation}: {share:.0%} of {len(found)} are its own"


def pictures(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples that OCR reads."""
    return [sample for sample in samples if sample.name.endswith(PICTURES) or _is_scan(sample)]


def _begin(pool: ParserPool, name: str, content: bytes, *, ocr: bool) -> Parsing:
    settings = ParsingSettings(ocr=ocr, timeout=timedelta(seconds=_SECONDS))
    return pool.start(content, name=name, media_type=detect_media_type(name, content[:4096]), settings=settings)


def _sound_text(sample: Sample, parsing: Parsing) -> str:
    try:
        document = parsing.result().markdown
    except ParseError:
        document = ""
    return document if sample.name.endswith(_PACKED) else f"{document}\n{sample.content.decode(errors='replace')}"


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _letters(text: str) -> list[str]:
    return [character for character in text.casefold() if character.isalpha()]


@cache
def _is_scan(sample: Sample) -> bool:
    """Whether it is a PDF that opens and whose pages hold no text."""
    if not sample.name.endswith(".pdf"):
        return False
    try:
        with PdfDocument(sample.content) as pdf:
            return not any(page.get_textpage().count_chars() for page in pdf)
    except PdfiumError:
        return False
