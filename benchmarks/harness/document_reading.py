"""One document through the parser: its text against the expected Markdown, and the seconds it takes."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import pypdfium2  # type: ignore[import-untyped] # has no stubs

from benchmarks.corpora.document_samples import Sample
from benchmarks.harness.document_scores import headings, order_similarity, share_found, table_cells, words
from sourcebook.errors import MissingDependencyError, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.parse import parse
from sourcebook.parsing.registry import parser_for

_TEXT_LAYER = 0.5
"""Smallest share of the expected words in the text stream of a PDF; one with less counts as a scan."""


@dataclass(frozen=True)
class Reading:
    """A parsed document, or the reason why there is none."""

    sample: Sample
    document: ParsedDocument | None
    reason: str
    """Reason of a refusal; empty for a parsed document."""
    seconds: float
    """Median seconds of a reading."""
    plain_text: str | None
    """Text stream of a PDF, page by page; None where pypdfium2 cannot open it."""

    @property
    def format(self) -> str:
        """Kind of the reading: PDF, OCR, or the name of the parser."""
        parser = parser_for(self.sample.media_type)
        name = "none" if parser is None else parser.name
        return "OCR" if name == "image" or (self.sample.is_pdf and self.is_scan) else name.upper()

    @cached_property
    def is_scan(self) -> bool:
        """Whether a PDF is a scan."""
        return self.plain_text is None or (_share(words, self.sample.expected, self.plain_text) or 0.0) < _TEXT_LAYER

    @property
    def markdown(self) -> str:
        """Markdown of the document; empty for a refused one."""
        return "" if self.document is None else self.document.markdown

    @cached_property
    def words_found(self) -> float | None:
        """Share of the expected words, whatever their order."""
        return _share(words, self.sample.expected, self.markdown)

    @cached_property
    def words_expected(self) -> float | None:
        """Share of the found words that were expected; the rest was invented or repeated."""
        return None if self.sample.expected is None else _share(words, self.markdown, self.sample.expected)

    @cached_property
    def similarity(self) -> float | None:
        """Similarity of the word order with the expected Markdown, 0 to 1."""
        return _similarity(self.sample.expected, self.markdown)

    @cached_property
    def plain_similarity(self) -> float | None:
        """Similarity of the word order of pypdfium2's text stream, 0 to 1."""
        return None if self.plain_text is None else _similarity(self.sample.expected, self.plain_text)

    @cached_property
    def expected_headings(self) -> Counter[str]:
        """Headings of the expected Markdown."""
        return headings(self.sample.expected or "")

    @cached_property
    def found_headings(self) -> Counter[str]:
        """Headings of the document."""
        return headings(self.markdown)

    @cached_property
    def cells_found(self) -> float | None:
        """Share of the expected table cells that were found."""
        return _share(table_cells, self.sample.expected, self.markdown)

    @property
    def pages(self) -> int | None:
        """Number of pages; None for formats without pages."""
        return None if self.document is None else self.document.page_count


def read(sample: Sample, *, repeat: int) -> Reading:
    """Parse a document; a PDF with a text layer `repeat` times."""
    text = plain_text(sample.content) if sample.is_pdf else None
    document, reason, seconds = _parse(sample)
    reading = Reading(sample, document, reason, seconds, text)
    if document is None or reading.format != "PDF":
        return reading
    all_seconds = [seconds, *(_parse(sample)[2] for _ in range(repeat - 1))]
    return Reading(sample, document, reason, float(median(all_seconds)), text)


def plain_text(content: bytes) -> str | None:
    """Return the text stream of a PDF from pypdfium2; None where it cannot be opened."""
    try:
        with pypdfium2.PdfDocument(content) as pdf:
            return "\n".join(page.get_textpage().get_text_range() for page in pdf)
    except pypdfium2.PdfiumError:
        return None


def _parse(sample: Sample) -> tuple[ParsedDocument | None, str, float]:
    started = time.perf_counter()
    try:
        document, reason = parse(sample.content, name=sample.name, media_type=sample.media_type), ""
    except (ParseError, MissingDependencyError) as error:
        document, reason = None, str(error)
    return document, reason, time.perf_counter() - started


def _share(count: Callable[[str], Counter[str] | list[str]], expected: str | None, found: str) -> float | None:
    return None if expected is None else share_found(Counter(count(expected)), Counter(count(found)))


def _similarity(expected: str | None, found: str) -> float | None:
    return None if expected is None else order_similarity(words(expected), words(found))
