"""Documents against their expected Markdown: words, order, headings, table cells; speed and memory of reading them."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.corpora.document_samples import Sample, read_samples
from benchmarks.corpora.pdf_library import KEPT_APART
from benchmarks.harness.bench import Bench
from benchmarks.harness.document_memory import memory_rows
from benchmarks.harness.document_reading import Reading, read
from benchmarks.harness.document_scores import share_found
from benchmarks.harness.document_table import document_table
from benchmarks.harness.library import PROJECT
from benchmarks.harness.mutated_documents import giant_rows, mutation_rows
from benchmarks.harness.pdf_readings import library_rows
from benchmarks.harness.report import Row, say
from benchmarks.harness.word_readings import word_rows

FOLDER = PROJECT.parent / "shared" / "data" / "documents"
DOCLING_PAGES_A_SECOND = 1.3
"""Pages a second on a CPU, as docling's authors publish for their pipeline with models."""
_WORDS = {"PDF": 0.97, "OCR": 0.90, **dict.fromkeys(("DOCX", "HTML", "PPTX", "XLSX"), 0.99)}
"""Smallest share of expected words that a document must have, by format."""


def run(bench: Bench) -> list[Row]:
    """Read every document of the folder, print a line for each, and return the totals."""
    folder = bench.options.documents or FOLDER
    if not folder.is_dir():
        return [Row("documents", None, note=f"there is no folder {folder}")]
    samples = read_samples(folder)
    _warm_up(samples)
    readings = []
    for sample in samples:
        say(f"  {sample.name} …")
        readings.append(read(sample, repeat=1 if bench.options.quick else bench.options.repeat))
    print(f"{document_table(readings)}\n")
    memory = [] if bench.options.quick else memory_rows(readings)
    packages = bench.options.pdfs.resolve() if bench.options.pdfs else None
    library = (
        [
            *library_rows(packages),
            *(row for name, listed in KEPT_APART.items() for row in library_rows(packages, listed, called=f"{name}, ")),
            *word_rows(packages, folder),
        ]
        if packages
        else []
    )
    damaged = [*mutation_rows(bench.options.mutations), *giant_rows()] if bench.options.mutations else []
    return [*totals(readings), *memory, *library, *damaged]


def totals(readings: Sequence[Reading]) -> list[Row]:
    """Return the totals over all documents, with the bars."""
    compared = [reading for reading in readings if reading.sample.expected is not None]
    digital = [reading for reading in compared if reading.format == "PDF"]
    return [
        *_word_rows(compared),
        *_order_rows(digital),
        *_heading_rows([reading for reading in compared if reading.sample.is_pdf]),
        *_speed_rows(digital),
    ]


def _warm_up(samples: Sequence[Sample]) -> None:
    """Parse the smallest document of each type, so that no measured time holds the import of the parser."""
    for media_type in dict.fromkeys(sample.media_type for sample in samples):
        same = (sample for sample in samples if sample.media_type == media_type)
        read(min(same, key=lambda sample: len(sample.content)), repeat=1)


def _word_rows(readings: Sequence[Reading]) -> list[Row]:
    rows = []
    for name in dict.fromkeys(reading.format for reading in readings):
        least, worst = _least([one for one in readings if one.format == name], lambda one: one.words_found)
        rows.append(Row(f"words found, {name}, each", least, "%", _WORDS.get(name), worst, at_least=True))
    return rows


def _order_rows(digital: Sequence[Reading]) -> list[Row]:
    scores = [reading.similarity for reading in digital if reading.similarity is not None]
    least, worst = _least(digital, lambda one: one.similarity)
    below = [Path(one.sample.name).name for one in digital if (one.similarity or 0.0) < (one.plain_similarity or 0.0)]
    mean = fmean(scores) if scores else None
    return [
        Row("word order, born-digital PDFs, mean", mean, "similarity", 0.93, at_least=True),
        Row("word order, born-digital PDFs, each", least, "similarity", 0.80, worst, at_least=True),
        Row("word order below pypdfium2's plain text", len(below), "PDFs", 0, ", ".join(below)),
    ]


def _heading_rows(pdfs: Sequence[Reading]) -> list[Row]:
    expected: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for number, reading in enumerate(pdfs):
        expected.update({f"{number} {heading}": count for heading, count in reading.expected_headings.items()})
        found.update({f"{number} {heading}": count for heading, count in reading.found_headings.items()})
    recall, precision = share_found(expected, found), share_found(found, expected)
    return [
        Row("heading recall, all PDFs together", recall, "%", 0.75, f"of {expected.total()}", at_least=True),
        Row("heading precision, all PDFs together", precision, "%", 0.75, f"of {found.total()}", at_least=True),
    ]


def _speed_rows(digital: Sequence[Reading]) -> list[Row]:
    pages, seconds = sum(one.pages or 0 for one in digital), sum(one.seconds for one in digital)
    speed = pages / seconds if pages else None
    ratio = speed / DOCLING_PAGES_A_SECOND if speed else None
    return [
        Row("speed, born-digital PDFs, one process", speed, "pages/s", 15, f"{pages} pages", at_least=True),
        Row(f"speed against docling's {DOCLING_PAGES_A_SECOND} pages/s", ratio, "×", 10, at_least=True),
    ]


def _least(readings: Sequence[Reading], score: Callable[[Reading], float | None]) -> tuple[float | None, str]:
    scored = [(value, one.sample.name) for one in readings if (value := score(one)) is not None]
    if not scored:
        return None, "there is none to compare"
    value, name = min(scored)
    return value, f"{Path(name).name}, of {len(scored)}" if len(scored) > 1 else Path(name).name
