"""Pages whose order by position is doubtful are read in the order in which their text is written."""

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.layout.columns.stream_order import reads_better_as_written
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, grid, pdf

LEFT = ("The tide", "comes up the long shore", "at six", "and every stone of it", "is wet", "once more today")
RIGHT = ("A lamp", "burns in the old tower", "by night", "and all the sailors", "see it", "from far away at sea")


def verses(lines: tuple[str, ...], middle: float, pitch: float) -> list[Mark]:
    """Return centred lines, each further to the right than the one before, so that no white space is below another."""
    return [Shown(middle + 30 * n - 2.4 * len(line), 700 - pitch * n, line) for n, line in enumerate(lines)]


def read(*marks: Mark) -> str:
    return parse_pdf(pdf([marks]), settings=ParsingSettings(ocr=False)).markdown


def test_verses_side_by_side() -> None:
    """Two poems side by side have no gutter of straight edges; each is read whole, as it is written."""
    text = " ".join(read(*verses(LEFT, 120, 14), *verses(RIGHT, 250, 15)).split())
    assert " ".join(LEFT) in text
    assert " ".join(RIGHT) in text


def test_text_written_in_any_order() -> None:
    """Lines that are written in no order are read from the top."""
    lines = [Shown(72, 700 - 12 * n, f"line {n} of a text whose lines were written in no order") for n in range(9)]
    text = read(*(lines[place] for place in (4, 0, 8, 2, 6, 1, 7, 3, 5)))
    places = [text.index(f"line {n} ") for n in range(9)]
    assert places == sorted(places)


def test_the_text_of_a_wide_cell_appears_once() -> None:
    """A cell across the columns of a form holds its text once; a short header stands above each of its columns."""
    note = "Do not write below this line, which is for the office alone"
    lines = [*grid([72, 540], [700, 680, 660, 640]), *(line for line in grid([250, 400], [680, 640])[2:])]
    marks = [Shown(76, 686, note), Shown(76, 666, "Name"), Shown(254, 666, "Seat"), Shown(404, 666, "Row")]
    text = read(*lines, *marks, Shown(76, 646, "Anne"), Shown(254, 646, "14"), Shown(404, 646, "3"))
    assert text.count(note) == 1
    assert "| Anne | 14 | 3 |" in text


def test_columns_of_an_index_are_no_table() -> None:
    """Dots lead from its words to its numbers in each column; the columns are written one after the other."""
    columns = [
        mark
        for left in (50, 320)
        for n in range(16)
        for mark in (
            Shown(left, 700 - 13 * n, f"\\command{left}x{n}"),
            Shown(left + 80, 700 - 13 * n, ". " * 20),
            Shown(left + 200, 700 - 13 * n, f"{left + n}"),
        )
    ]
    document = parse_pdf(pdf([columns]), settings=ParsingSettings(ocr=False))
    places = [document.markdown.index(f"command{left}x{n}") for left in (50, 320) for n in range(16)]
    assert places == sorted(places)


def test_a_table_written_row_by_row_stays_a_table() -> None:
    """Its cells are narrow, and its order is that of the content."""
    cells = [Shown(72 + 130 * column, 700 - 14 * row, f"c{column}r{row}") for row in range(12) for column in range(4)]
    document = parse_pdf(pdf([cells]), settings=ParsingSettings(ocr=False))
    assert "| c0r5 | c1r5 | c2r5 | c3r5 |" in document.markdown


def test_a_table_written_column_by_column_stays_a_table() -> None:
    """Narrow cells are no columns of text."""
    cells = [Shown(72 + 130 * column, 700 - 14 * row, f"c{column}r{row}") for column in range(4) for row in range(12)]
    document = parse_pdf(pdf([cells]), settings=ParsingSettings(ocr=False))
    assert "| c0r5 | c1r5 | c2r5 | c3r5 |" in document.markdown


def test_an_index_of_narrow_entries_is_no_table() -> None:
    """Its pages hang below its words, and the lines of both columns are level."""
    columns = [
        Shown(left + (18 if n % 2 else 0), 700 - 12 * n, f"space, {n}{left}" if n % 2 else f"word{left}x{n}")
        for left in (60, 330)
        for n in range(20)
    ]
    text = read(*columns)
    assert "|" not in text
    places = [text.index(f"word{left}x{n}") for left in (60, 330) for n in range(0, 20, 2)]
    assert places == sorted(places)


def test_columns_with_dates_at_their_edge_are_no_table() -> None:
    """The white space between a version and its date is within one column of a list of changes."""
    columns = []
    for left in (60, 330):
        for n in range(8):
            top = 700 - 36 * n
            columns += [Shown(left, top, f"v{left}.{n}"), Shown(left + 190, top, f"2020/0{n + 1}")]
            columns += [Shown(left + 10, top - 12, f"General: the change {left}.{n} of the text is large")]
            columns += [Shown(left + 10, top - 24, f"and it goes on in a second line {n}")]
    text = read(*columns)
    places = [text.index(f"v{left}.{n}") for left in (60, 330) for n in range(8)]
    assert places == sorted(places)


def test_a_table_with_indented_labels_stays_a_table() -> None:
    """Its labels have indents like the entries of an index; most of its cells are numbers."""
    labels = [Shown(72 + (14 if n % 3 else 0), 700 - 14 * n, f"label {n}") for n in range(14)]
    cells = [Shown(250 + 120 * column, 700 - 14 * n, f"{column}.{n}") for column in range(2) for n in range(14)]
    assert "| label 5 | 0.5 | 1.5 |" in read(*labels, *cells)


PROSE = [
    Shown(60, 740 - 12 * n, f"Line {n} of the text above is as wide as the page, and it goes on below it.")
    for n in range(24)
]


def test_columns_below_a_text_are_no_table() -> None:
    """A card of terms and commands in two columns, below a long text: only a part of the page is in doubt."""
    columns = [
        mark
        for left in (60, 330)
        for n in range(9)
        for mark in (
            Shown(left, 400 - 12 * n, f"set it {n}"),
            Shown(left + 170, 400 - 12 * n, f"set {left}{n}", font="mono"),
        )
    ]
    text = read(*PROSE, *columns)
    places = [text.index(f"set {left}{n}") for left in (60, 330) for n in range(9)]
    assert places == sorted(places)


def test_a_table_written_column_by_column_below_a_text_stays_a_table() -> None:
    """The text above it is wide, and its cells are narrow."""
    cells = [Shown(72 + 110 * column, 400 - 14 * row, f"c{column}r{row}") for column in range(4) for row in range(9)]
    assert "| c0r5 | c1r5 | c2r5 | c3r5 |" in read(*PROSE, *cells)


def test_justified_lines_with_wide_spaces_are_whole() -> None:
    """White space that is below white space by chance parts no columns where each line is written from end to end."""
    rows = [
        [
            Line(f"word {n}", 60 + 70 * n, 122 + 70 * n, 12.0 * row, 12.0 * row + 10, 10, order=6 * row + n)
            for n in range(6)
        ]
        for row in range(30)
    ]
    whole = [line for row in rows for line in row]
    assert not reads_better_as_written(whole)
    parted = [line for row in rows[:24] for line in row]
    for start in (24, 26, 28):
        pair = rows[start : start + 2]
        for first, end in ((0, 2), (2, 4), (4, 6)):
            parted += [line for row in pair for line in row[first:end]]
    assert reads_better_as_written(parted)
