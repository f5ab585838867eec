"""Damaged files go through the parsers as files of an ingest do: none of them harms the run, or passes for sound.

What is promised of a file that was damaged at random:

- It gives a document, or a reason that a person can read. No other file suffers, and none takes more than its time.
- A packed format (PDF, Office, EPUB) that still gives a document gives one of its own words: nine of ten stand in the
  document that the sound file gives. Less than the whole is allowed: what is lost is lost.
- Plain text, HTML, mail and data whose bytes were changed are text with changed bytes, which nobody can tell from
  text. Of them, nine of ten letters must be letters of the sound file: what is decoded wrongly has others.
- What was recognised is marked as such: it says what is to be seen on the damaged page, right or wrong.

SOURCEBOOK_MUTATIONS sets how many there are.
"""

import os
import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parser_pool import ParserPool, Parsing
from tests.unit.parsing.mutations import Mutation, Sample, mutations, samples

COUNT = int(os.environ.get("SOURCEBOOK_MUTATIONS", "300"))
AHEAD = 16
SECONDS = 60
PACKED = (".pdf", ".docx", ".pptx", ".xlsx", ".epub")
OWN = 0.9


@pytest.fixture(scope="module")
def pool() -> Iterator[ParserPool]:
    """The pool of an ingest."""
    with ParserPool() as pool:
        yield pool


def begin(pool: ParserPool, name: str, content: bytes, *, ocr: bool) -> Parsing:
    settings = ParsingSettings(ocr=ocr, timeout=timedelta(seconds=SECONDS))
    return pool.start(content, name=name, media_type=detect_media_type(name, content[:4096]), settings=settings)


def run(pool: ParserPool, damaged: Sequence[Mutation], *, ocr: bool) -> Iterator[tuple[Mutation, ParsedDocument | str]]:
    """Parse them side by side; yield each with its document, or with the reason why there is none."""
    for start in range(0, len(damaged), AHEAD):
        batch = damaged[start : start + AHEAD]
        begun = [(each, begin(pool, each.sample.name, each.content, ocr=ocr)) for each in batch]
        for each, parsing in begun:
            try:
                yield each, parsing.result()
            except ParseError as error:
                yield each, str(error)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def letters(text: str) -> list[str]:
    return [character for character in text.casefold() if character.isalpha()]


def test_damaged_files_give_a_document_or_a_reason(pool: ParserPool) -> None:
    """Of hundreds of damaged files none stops the run, hangs, or gives a document of something else."""
    sound_files = samples()
    sound = {sample.name: sound_text(pool, sample) for sample in sound_files}
    outcomes = list(run(pool, list(mutations(sound_files, COUNT)), ocr=False))
    assert len(outcomes) == COUNT
    reasons = [outcome for _, outcome in outcomes if isinstance(outcome, str)]
    assert COUNT / 10 < len(reasons) < COUNT * 0.9, "the damage is too slight or too heavy to tell anything"
    assert [reason for reason in reasons if len(reason) < 15 or "\n" in reason or "was not done" in reason] == []
    documents = [(each, outcome) for each, outcome in outcomes if isinstance(outcome, ParsedDocument)]
    assert [
        problem for each, document in documents if (problem := strange(each, document, sound[each.sample.name]))
    ] == []


def test_damaged_pictures_are_marked_as_recognised(pool: ParserPool) -> None:
    """What is read from a damaged scan or picture names its pages and how sure it is, or there is a reason."""
    pictures = [sample for sample in samples() if sample.name.endswith((".png", ".jpg", ".tif")) or is_scan(sample)]
    for each, outcome in run(pool, list(mutations(pictures, max(4, COUNT // 75))), ocr=True):
        if isinstance(outcome, str):
            assert len(outcome) > 15, each
            assert "was not done" not in outcome, each
        elif outcome.markdown:
            assert outcome.metadata["recognised_pages"], each
            assert outcome.metadata["recognition_confidence"], each


def sound_text(pool: ParserPool, sample: Sample) -> str:
    """Return what the sound file holds: its document, and as text all of it; nothing where it cannot be read."""
    try:
        document = begin(pool, sample.name, sample.content, ocr=False).result().markdown
    except ParseError:
        document = ""
    return document if sample.name.endswith(PACKED) else f"{document}\n{sample.content.decode(errors='replace')}"


def strange(mutation: Mutation, document: ParsedDocument, sound: str) -> str:
    """Say how much of a document is not of the sound file, if that is too much."""
    if mutation.sample.name.endswith(PACKED):
        found, own = list(words(document.markdown)), words(sound)
    else:
        found, own = letters(document.markdown), set(letters(sound))
    share = sum(each in own for each in found) / len(found) if found else 1.0
    return "" if share >= OWN else f"{mutation}: {share:.0%} of {len(found)} are its own"


@cache
def is_scan(sample: Sample) -> bool:
    """Whether it is a PDF that opens and whose pages hold no text."""
    from pypdfium2 import PdfDocument, PdfiumError  # type: ignore[import-untyped] # has no stubs

    if not sample.name.endswith(".pdf"):
        return False
    try:
        with PdfDocument(sample.content) as pdf:
            return not any(page.get_textpage().count_chars() for page in pdf)
    except PdfiumError:
        return False
