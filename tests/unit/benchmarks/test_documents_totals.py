"""What the benchmark of documents makes of a folder."""

from pathlib import Path

import pytest

from benchmarks.corpora.document_samples import Sample, read_samples
from benchmarks.harness.document_reading import Reading, read
from benchmarks.harness.document_table import document_table
from benchmarks.harness.report import Row
from benchmarks.parts.documents import totals
from sourcebook.model.document import ParsedDocument
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf


def reading(expected: str, found: str, *, plain: str, name: str = "a.pdf", seconds: float = 0.5) -> Reading:
    sample = Sample(name, b"", "application/pdf", expected)
    return Reading(sample, ParsedDocument(found, (), page_count=5), "", seconds, plain)


def values(readings: list[Reading]) -> dict[str, Row]:
    return {row.measure: row for row in totals(readings)}


def test_documents_are_paired_with_what_is_expected(tmp_path: Path) -> None:
    """By the name without its ending, in any subfolder; a document without a pair is read, too."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "deep" / "a.expected.md").write_text("| x | y |\n|---|---|\n| 1 | 2 |\n")
    (tmp_path / "b.txt").write_text("alone")
    (tmp_path / "c.exe").write_bytes(b"MZ\x90\x00 not run")
    alone, refused, paired = (read(sample, repeat=1) for sample in read_samples(tmp_path))
    assert (alone.sample.name, alone.words_found, alone.markdown.strip()) == ("b.txt", None, "alone")
    assert (paired.sample.name, paired.format, paired.cells_found) == ("deep/a.csv", "CSV", 1.0)
    assert "programs are not read" in refused.reason
    assert "c.exe: programs are not read" in document_table([alone, refused, paired])


def test_a_pdf_is_compared_with_its_text_stream() -> None:
    """The text stream of the same file is scored beside it; a file of pictures alone counts as scanned."""
    content = pdf([[Shown(72, 700, "Some words of text on a page.")]])
    digital = read(Sample("a.pdf", content, "application/pdf", "Some words of text on a page."), repeat=2)
    assert (digital.format, digital.plain_similarity, digital.similarity) == ("PDF", 1.0, 1.0)
    assert reading("Some words", "Some words", plain="").format == "OCR"


def test_totals_are_the_worst_document_and_all_headings_together() -> None:
    """A bar that each must meet shows the worst by name; headings are counted over all PDFs; speed over all pages."""
    good = reading("# One\n\ntwo three four", "# One\n\ntwo three four", plain="four three two One")
    poor = reading("# One\n\n# Two\n\na b", "One\n\n# Two\n\nb", plain="One Two a b", name="deep/poor.pdf", seconds=1.5)
    rows = values([good, poor])
    words = rows["words found, PDF, each"]
    assert words.value == pytest.approx(0.75)
    assert (words.met, "poor.pdf" in words.note) == (False, True)
    assert rows["heading recall, all PDFs together"].value == pytest.approx(2 / 3)
    assert rows["heading precision, all PDFs together"].value == 1.0
    assert rows["word order below pypdfium2's plain text"].value == 1
    assert rows["speed, born-digital PDFs, one process"].value == pytest.approx(5.0)


def test_a_folder_without_pdfs_has_nothing_to_tell_of_them() -> None:
    """What was not measured meets no bar and misses none."""
    assert {row.met for row in totals([]) if row.at_least} == {None}


def test_a_bar_may_be_the_least() -> None:
    """It is met from the bar itself upwards."""
    assert Row("a", 0.97, "%", 0.97, at_least=True).met is True
    assert Row("a", 0.96, "%", 0.97, at_least=True).met is False
    assert Row("a", 0.96, "%", 0.97, at_least=True).cells[1:4] == ("96.0 %", "≥ 97.0 %", "0.99")
