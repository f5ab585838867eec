"""One document through the parser: how much of what was expected came out, and how long it took."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import pypdfium2  # type: ignore[import-untyped] # has no stubs

from benchmarks.corpora.document_samples import Sample
from benchmarks.harness.document_scores import headings, order_similarity, share_found, table_cells, words
from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import MissingDependencyError, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.parse import parse
from sourcebook.parsing.registry import parser_for

_WHOLE = ParsingSettings(html="everything")
"""The expected Markdown of a web page holds its menus, too."""
_TEXT_LAYER = 0.5
"""A PDF whose text stream has fewer of the expected words than that is a scan."""


@dataclass(frozen=True)
class Reading:
    """What became of a document."""

    sample: Sample
    document: ParsedDocument | None
    reason: str
    """Why there is no document; empty where there is one."""
    seconds: float
    """The median."""
    plain_text: str | None
    """Of a PDF that pypdfium2 opens: its text stream, page by page."""

    @property
    def format(self) -> str:
        """PDF or OCR, or the name of the parser."""
        parser = parser_for(self.sample.media_type)
        name = "none" if parser is None else parser.name
        return "OCR" if name == "image" or (self.sample.is_pdf and self.is_scan) else name.upper()

    @cached_property
    def is_scan(self) -> bool:
        """Whether a PDF has no text stream worth the name."""
        return self.plain_text is None or (_share(words, self.sample.expected, self.plain_text) or 0.0) < _TEXT_LAYER

    @property
    def markdown(self) -> str:
        """What came out; nothing where it was refused."""
        return "" if self.document is None else self.document.markdown

    @cached_property
    def words_found(self) -> float | None:
        """Share of the expected words, whatever their order."""
        return _share(words, self.sample.expected, self.markdown)

    @cached_property
    def words_expected(self) -> float | None:
        """Share of the words found that were expected: what is less was made up or written twice."""
        return None if self.sample.expected is None else _share(words, self.markdown, self.sample.expected)

    @cached_property
    def similarity(self) -> float | None:
        """Word-order similarity with what was expected."""
        return _similarity(self.sample.expected, self.markdown)

    @cached_property
    def plain_similarity(self) -> float | None:
        """The same of pypdfium2's text stream."""
        return None if self.plain_text is None else _similarity(self.sample.expected, self.plain_text)

    @cached_property
    def expected_headings(self) -> Counter[str]:
        """Those of what was expected."""
        return headings(self.sample.expected or "")

    @cached_property
    def found_headings(self) -> Counter[str]:
        """Those that came out."""
        return headings(self.markdown)

    @cached_property
    def cells_found(self) -> float | None:
        """Share of the expected table cells."""
        return _share(table_cells, self.sample.expected, self.markdown)

    @property
    def pages(self) -> int | None:
        """How many it has; None of formats without pages."""
        return None if self.document is None else self.document.page_count


def read(sample: Sample, *, repeat: int) -> Reading:
    """Parse a document; a PDF with a text layer `repeat` times over."""
    text = plain_text(sample.content) if sample.is_pdf else None
    document, reason, seconds = _parse(sample)
    reading = Reading(sample, document, reason, seconds, text)
    if document is None or reading.format != "PDF":
        return reading
    all_seconds = [seconds, *(_parse(sample)[2] for _ in range(repeat - 1))]
    return Reading(sample, document, reason, float(median(all_seconds)), text)


def plain_text(content: bytes) -> str | None:
    """Return the text stream of a PDF as pypdfium2 gives it; None where it does not open."""
    try:
        with pypdfium2.PdfDocument(content) as pdf:
            return "\n".join(page.get_textpage().get_text_range() for page in pdf)
    except pypdfium2.PdfiumError:
        return None


def _parse(sample: Sample) -> tuple[ParsedDocument | None, str, float]:
    started = time.perf_counter()
    try:
        document, reason = parse(sample.content, name=sample.name, media_type=sample.media_type, settings=_WHOLE), ""
    except (ParseError, MissingDependencyError) as error:
        document, reason = None, str(error)
    return document, reason, time.perf_counter() - started


def _share(count: Callable[[str], Counter[str] | list[str]], expected: str | None, found: str) -> float | None:
    return None if expected is None else share_found(Counter(count(expected)), Counter(count(found)))


def _similarity(expected: str | None, found: str) -> float | None:
    return None if expected is None else order_similarity(words(expected), words(found))
