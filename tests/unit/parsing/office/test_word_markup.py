"""Markup of Word files beside plain paragraphs: nothing that Word shows is lost, nothing that was deleted appears."""

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from sourcebook.model.document import ParsedDocument
from tests.unit.parsing.office.office_files import parse_named, saved

_VML = 'xmlns:v="urn:schemas-microsoft-com:vml"'


def read(body: str) -> ParsedDocument:
    """Parse a Word file with this markup in its body."""
    document = docx.Document()
    for element in parse_xml(f"<w:body {nsdecls('w')} {_VML}>{body}</w:body>"):
        document.element.body.insert(len(document.element.body) - 1, element)
    return parse_named("a.docx", saved(document))


def paragraph(content: str) -> str:
    return f"<w:p>{content}</w:p>"


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(f'<w:tc>{paragraph(run(cell))}</w:tc>' for cell in cells)}</w:tr>"


@pytest.mark.parametrize(
    "grid",
    [
        "",
        "<w:tblGrid/>",
        "<w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid>",
        "<w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>",
    ],
)
def test_a_table_keeps_its_cells_whatever_its_grid_says(grid: str) -> None:
    """A grid that is missing or too narrow, as some programs write it, costs no cell."""
    assert (
        read(f"<w:tbl>{grid}{row('a', 'b')}{row('c', 'd')}</w:tbl>").markdown == "| a | b |\n| --- | --- |\n| c | d |\n"
    )


def test_a_row_that_leaves_thousands_of_columns_free_costs_no_other_row() -> None:
    """Such a row is damaged; a table of thousands of columns would be longer than the memory of a parser."""
    free = row("a", "b").replace("<w:tr>", '<w:tr><w:trPr><w:gridBefore w:val="9990"/></w:trPr>')
    markdown = read(f"<w:tbl><w:tblPr/><w:tblGrid/>{free}{row('c', 'd')}</w:tbl>").markdown
    assert "| c | d |" in markdown
    assert len(markdown) < 10_000


def test_rows_in_content_controls_are_kept() -> None:
    """A row that a form repeats is a row like others."""
    control = f"<w:sdt><w:sdtContent>{row('c', 'd')}</w:sdtContent></w:sdt>"
    assert "| c | d |" in read(f"<w:tbl><w:tblPr/><w:tblGrid/>{row('a', 'b')}{control}</w:tbl>").markdown


def test_moved_text_stands_where_it_was_moved_to() -> None:
    """Text that was moved while changes were tracked is read once, in its new place, and deleted rows are gone."""
    deleted = row("gone", "lost").replace("<w:tr>", '<w:tr><w:trPr><w:del w:id="9"/></w:trPr>')
    document = read(
        paragraph(run("First.") + f'<w:moveFrom w:id="1">{run("Moved.")}</w:moveFrom>')
        + paragraph(f'<w:moveTo w:id="2">{run("Moved.")}</w:moveTo>')
        + f"<w:tbl>{row('a', 'b')}{deleted}</w:tbl>"
    )
    assert document.markdown == "First.\n\nMoved.\n\n| a | b |\n| --- | --- |\n"


def test_text_in_other_markup_is_kept() -> None:
    """Elements for directions and for other programs' data hold text like any other."""
    document = read(
        paragraph(f'<w:bdo w:val="rtl">{run("one ")}</w:bdo><w:dir w:val="rtl">{run("two")}</w:dir>')
        + f'<w:customXml w:element="x">{paragraph(run("three"))}</w:customXml>'
    )
    assert document.markdown == "one two\n\nthree\n"


def test_readings_stand_behind_their_words() -> None:
    """Words with readings over them (ruby) stay whole, with the readings in brackets behind them."""
    ruby = "".join(
        f"<w:r><w:ruby><w:rubyPr/><w:rt>{run(reading)}</w:rt><w:rubyBase>{run(base)}</w:rubyBase></w:ruby></w:r>"
        for base, reading in (("漢", "かん"), ("字", "じ"))
    )
    assert read(paragraph(f"{run('A ')}{ruby}{run(' B')}")).markdown == "A 漢字(かん)(じ) B\n"


def test_form_fields_show_their_state() -> None:
    """Check boxes and lists of old forms are told with what is chosen in them."""

    def field(data: str) -> str:
        begin = f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
        return f'{begin}<w:r><w:fldChar w:fldCharType="end"/></w:r>'

    entries = '<w:listEntry w:val="low"/><w:listEntry w:val="high"/>'
    document = read(
        paragraph(
            field('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>')
            + run(" yes ")
            + field('<w:checkBox><w:default w:val="0"/></w:checkBox>')
            + run(" no, risk ")
            + field(f'<w:ddList><w:result w:val="1"/>{entries}</w:ddList>')
        )
    )
    assert document.markdown == "☒ yes ☐ no, risk high\n"


def test_drawn_letters_are_text() -> None:
    """The words of WordArt are a paragraph behind the one that shows them."""
    art = '<w:r><w:pict><v:shape><v:textpath string="Grand opening"/></v:shape></w:pict></w:r>'
    assert read(paragraph(run("Come!") + art)).markdown == "Come!\n\nGrand opening\n"


def test_what_is_left_out_is_counted() -> None:
    """Hidden text, headers and footers are left out, and the metadata say so."""
    document = docx.Document()
    document.add_paragraph("Shown ").add_run("hidden words").font.hidden = True
    document.add_paragraph().add_run("all hidden").font.hidden = True
    document.sections[0].header.paragraphs[0].text = "Company paper"
    document.sections[0].footer.paragraphs[0].text = "Page"
    parsed = parse_named("a.docx", saved(document))
    assert parsed.markdown == "Shown\n"
    left_out = parsed.metadata["left_out"]
    assert isinstance(left_out, dict)
    assert (left_out["rows"], left_out["words"]) == (4, 7)
    assert left_out["texts"] == ["all hidden", "Company paper", "Page", "hidden words"]


def with_part(name: str, content_type: str, content: bytes) -> bytes:
    """Return a Word file that holds a document of another format between two paragraphs."""
    document = docx.Document()
    document.add_paragraph("Before.")
    part = Part(PackURI(f"/word/{name}"), content_type, content, document.part.package)
    identity = document.part.relate_to(part, f"{RELATIONSHIP_TYPE.STYLES.rpartition('/')[0]}/aFChunk")
    chunk = parse_xml(f'<w:altChunk {nsdecls("w", "r")} r:id="{identity}"/>')
    document.element.body.insert(len(document.element.body) - 1, chunk)
    document.add_paragraph("After.")
    return saved(document)


@pytest.mark.parametrize(
    ("name", "content", "markdown"),
    [
        (
            "a.html",
            b"<h1>Ferry</h1><h2>Fares</h2><p>Some <b>bold</b> words.</p>",
            "# Ferry\n\n## Fares\n\nSome **bold** words.",
        ),
        ("a.mht", b"MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>Saved page.</p>", "Saved page."),
        ("a.rtf", rb"{\rtf1 Rich text.\par}", "Rich text."),
        ("a.txt", b"Plain text.", "Plain text."),
    ],
)
def test_documents_of_other_formats_within_are_read(name: str, content: bytes, markdown: str) -> None:
    """Programs that make Word files of web pages write all their text as a part that Word joins when it opens them."""
    document = parse_named("a.docx", with_part(name, "text/html", content))
    assert document.markdown == f"Before.\n\n{markdown}\n\nAfter.\n"


@pytest.mark.parametrize(("name", "content"), [("a.docx", b"PK\x03\x04"), ("a.bin", bytes(range(32)))])
def test_a_document_within_that_is_not_read_is_named(name: str, content: bytes) -> None:
    """A Word file in a Word file, and one of an unknown format."""
    document = parse_named("a.docx", with_part(name, "application/octet-stream", content))
    assert document.markdown == "Before.\n\nAfter.\n"
    left_out = document.metadata["left_out"]
    assert isinstance(left_out, dict)
    assert left_out["texts"] == [f"part word/{name}"]
