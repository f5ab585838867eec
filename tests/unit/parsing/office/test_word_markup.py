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


def field(instruction: str, result: str) -> str:
    begin, separate, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end"))
    code = "".join(
        part if part.startswith("<") else f'<w:r><w:instrText xml:space="preserve">{part}</w:instrText></w:r>'
        for part in instruction.split("|")
    )
    return f"{begin}{code}{separate}{run(result)}{end}"


def test_fields_show_their_result() -> None:
    """A field in an instruction is not shown; a link is one; one without end costs no text."""
    inner = field(" MERGEFIELD sex ", "female")
    document = read(
        paragraph(run("Dear ") + field(f' IF |{inner}| = "male" "Sir" "Madam" ', "Madam") + run(", see "))
        + paragraph(field(' HYPERLINK "https://example.org/rules" ', "the rules") + run(" now."))
        + paragraph(f'<w:r><w:fldChar w:fldCharType="begin"/></w:r>{run("Kept.")}')
    )
    assert document.markdown == "Dear Madam, see\n\n[the rules](https://example.org/rules) now.\n\nKept.\n"


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


def test_paragraphs_that_are_one() -> None:
    """A drop cap is the first letter of a word; a paragraph whose end was deleted goes on in the next one.

    A page that ends within a paragraph parts its words.
    """
    frame = '<w:pPr><w:framePr w:dropCap="drop" w:lines="3"/></w:pPr>'
    deleted = '<w:pPr><w:rPr><w:del w:id="1" w:author="A"/></w:rPr></w:pPr>'
    other = '<w:pPr><w:framePr w:w="2000"/></w:pPr>'
    document = read(
        paragraph(frame + run("K")) + paragraph(run("iwis grow here."))
        + paragraph(deleted + run("The hire ")) + paragraph(run("ends at noon."))
        + paragraph(other + run("A")) + paragraph(run("framed letter."))
        + paragraph(run("Before") + '<w:r><w:br w:type="page"/></w:r>' + run("behind."))
    )  # fmt: skip
    assert document.markdown == (
        "Kiwis grow here.\n\nThe hire ends at noon.\n\nA\n\nframed letter.\n\nBefore  \nbehind.\n"
    )


def scripted(text: str, script: str = "superscript") -> str:
    return f'<w:r><w:rPr><w:vertAlign w:val="{script}"/></w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (run("10") + scripted("6") + run(" kg"), "10^6 kg"),
        (run("10") + scripted("-") + run("") + scripted("3"), "10^-3"),
        (run("10") + scripted("-3") + run(" m"), "10^-3 m"),
        (run("the Act of 1815") + scripted("3") + run("."), "the Act of 1815[3]."),
        (run("in 1815.") + scripted("1") + scripted("2"), "in 1815.[12]"),
        (run("the 1") + scripted("st") + run(" of May"), "the 1st of May"),
        (scripted("1") + run(" A note."), "[1] A note."),
        (run("H") + scripted("2", "subscript") + run("O"), "H2O"),
        (run("1010") + scripted("2", "subscript"), "1010_2"),
        (run("Act") + '<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:t>7</w:t></w:r>', "Act[7]"),
    ],
)
def test_raised_numbers_are_no_digits_of_what_they_follow(content: str, expected: str) -> None:
    """An exponent is one, and the mark of a note does not change a year; ordinals and formulas stay as they are."""
    document = docx.Document()
    style = (
        '<w:style w:type="character" w:styleId="FootnoteReference"><w:name w:val="footnote reference"/>'
        '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
    )
    document.styles.element.append(parse_xml(style.replace("<w:style ", f"<w:style {nsdecls('w')} ", 1)))
    document.element.body.insert(0, parse_xml(f"<w:body {nsdecls('w')}>{paragraph(content)}</w:body>")[0])
    assert parse_named("a.docx", saved(document)).markdown == f"{expected}\n"


def test_characters_of_symbol_fonts() -> None:
    """Greek letters, signs and ticks that are pictures of a font."""
    symbols = (
        ("Symbol", "F061"),
        ("Symbol", "F0B0"),
        ("Symbol", "F0B3"),
        ("Wingdings", "F0FC"),
        ("Arial", "20AC"),
        ("Arial", "D800"),
    )
    content = "".join(f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>' for font, code in symbols)
    typed = '<w:r><w:rPr><w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/></w:rPr><w:t>\uf062</w:t></w:r>'
    assert read(paragraph(content + typed)).markdown == "α°≥✓€β\n"


def picture(description: str, name: str = "Picture 1", extra: str = "") -> str:
    return (
        f'<w:r><w:drawing><wp:inline {nsdecls("wp")}><wp:docPr id="1" name="{name}" descr="{description}">'
        f"{extra}</wp:docPr></wp:inline></w:drawing></w:r>"
    )


def test_descriptions_of_pictures_are_text() -> None:
    """A description stands behind its paragraph; the name of a file, a number and decoration say nothing."""
    mark = '<a:decorative xmlns:a="http://schemas.microsoft.com/office/drawing/2017/decorative" val="1"/>'
    nothing = (
        picture("C:\\scans\\image 001.png"),
        picture("Picture 1"),
        picture("https://a.example/b"),
        picture("Waves", "x", mark),
    )
    document = read(paragraph(run("The lock.") + picture("A drawing of the gate") + "".join(nothing)))
    assert document.markdown == "The lock.\n\nA drawing of the gate\n"


def test_tables_in_cells_are_pairs() -> None:
    """A value stands beside the name of its column, or beside its own name."""

    def nested(*rows: str) -> str:
        return f"<w:tc><w:tbl>{''.join(rows)}</w:tbl><w:p/></w:tc>"

    jars = nested(row("Jar", "Litres", "Lid"), row("blue", "9", "cork"), row("red", "4", ""))
    jar, person = nested(row("Jar", "Litres"), row("blue", "nine")), nested(row("Name", "Anna"), row("Town", "Oslo"))
    document = read(f"<w:tbl><w:tr>{jars}<w:tc>{paragraph(run('b'))}</w:tc></w:tr><w:tr>{jar}{person}</w:tr></w:tbl>")
    assert document.markdown == (
        "| Jar: blue, Litres: 9, Lid: cork; Jar: red, Litres: 4 | b |\n| --- | --- |\n"
        "| Jar: blue, Litres: nine | Name: Anna; Town: Oslo |\n"
    )
