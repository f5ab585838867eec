"""Recognised lines: no fonts, no drawn lines, and boxes that are never quite exact."""

from random import Random

from docling_core.types.doc import (  # type: ignore[attr-defined] # exported, though not in __all__
    DoclingDocument,
    SectionHeaderItem,
    TableItem,
    TextItem,
    TitleItem,
)

from sourcebook.parsing.pdf.layout.build_document import build_document
from sourcebook.parsing.pdf.layout.page_parts import Line, Page

WORDS = "some words that were recognised on a page which was scanned not quite straight"


def noisy(text: str, left: float, top: float, *, size: float = 10, random: Random) -> Line:
    """Return a line whose box is off by up to a point, and taller or lower by a tenth."""
    height = size * random.uniform(0.92, 1.1)
    left += random.uniform(-1, 1)
    top += random.uniform(-0.7, 0.7)
    return Line(text, left, left + 0.5 * size * len(text), top, top + height, height)


def page_of(*lines: Line) -> DoclingDocument:
    return build_document([Page(1, 595, 842, tuple(lines))])


def test_lines_become_paragraphs() -> None:
    """Uneven heights and edges do not break a paragraph; white space does."""
    random = Random(1)
    first = [noisy(f"{n} {WORDS}", 72, 100 + 13 * n, random=random) for n in range(8)]
    second = [noisy(f"{n} {WORDS}", 72, 230 + 13 * n, random=random) for n in range(8)]
    document = page_of(*first, *second)
    assert [item.text for item in document.texts] == [
        " ".join(line.text for line in first),
        " ".join(line.text for line in second),
    ]


def test_columns() -> None:
    """The left column is read to its end, whatever order the lines come in."""
    random = Random(2)
    lines = [
        noisy(f"{side} {n} of the column and more words", left, 100 + 13 * n, random=random)
        for n in range(12)
        for side, left in (("right", 320), ("left", 60))
    ]
    text = " ".join(item.text for item in page_of(*lines).texts)
    assert text.index("left 11") < text.index("right 0")


def test_a_much_larger_line_is_a_heading() -> None:
    """Size is all that tells headings here, and noise is not size."""
    random = Random(3)
    title = noisy("A large title", 72, 60, size=22, random=random)
    document = page_of(title, *[noisy(f"{n} {WORDS}", 72, 110 + 13 * n, random=random) for n in range(20)])
    headings = [item.text for item in document.texts if isinstance(item, TitleItem | SectionHeaderItem)]
    assert headings == ["A large title"]


def test_aligned_cells_are_a_table() -> None:
    """Columns are found although their edges waver."""
    random = Random(4)
    cells = [
        noisy(f"{name}{n}", left, 100 + 16 * n, random=random)
        for n in range(6)
        for name, left in (("name", 72), ("size", 220), ("weight", 400))
    ]
    (table,) = page_of(*cells).tables
    assert isinstance(table, TableItem)
    assert (table.data.num_rows, table.data.num_cols) == (6, 3)


def test_provenance() -> None:
    """Every item knows its page and box."""
    random = Random(5)
    document = page_of(*[noisy(f"{n} {WORDS}", 72, 100 + 13 * n, random=random) for n in range(3)])
    (item,) = document.texts
    assert isinstance(item, TextItem)
    (where,) = item.prov
    assert where.page_no == 1
    assert (round(where.bbox.l / 5), round(where.bbox.t / 5)) == (14, 20)
    assert document.pages[1].size.height == 842


def test_no_pages_and_empty_pages() -> None:
    """Nothing in, nothing out."""
    assert build_document([]).texts == []
    assert page_of().texts == []


def test_checkboxes_are_items() -> None:
    """Each box below the other begins an item, which keeps the box: it says whether it is checked."""
    texts = ("☐ The lamp was trimmed in the evening", "☑ The stairs were swept", "☒ The boat was tarred")
    document = page_of(
        *(Line(text, 72, 72 + 5 * len(text), 100 + 12 * n, 110 + 12 * n, 10) for n, text in enumerate(texts))
    )
    assert [item.text for item in document.texts] == list(texts)
