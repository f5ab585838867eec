"""Notes, comments and other parts of a Word file beside its running text."""

import docx
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, nsmap

from tests.unit.parsing.covering import texts
from tests.unit.parsing.office.office_files import add_notes, add_reference, append_xml, parse_named, saved

_MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def test_notes_follow_what_refers_to_them() -> None:
    """Footnotes and endnotes are numbered as Word shows them, and stand behind their paragraph, list or table."""
    document = docx.Document()
    add_reference(document.add_heading("Results", 1), "footnote", 5)
    paragraph = document.add_paragraph("It holds")
    add_reference(paragraph, "footnote", 2)
    paragraph.add_run(" in general")
    add_reference(paragraph, "endnote", 1)
    document.add_paragraph("Next.")
    add_reference(document.add_paragraph("item", style="List Bullet"), "footnote", 3)
    document.add_paragraph("other", style="List Bullet")
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ("a", "b", "c", "d"), strict=True):
        cell.text = text
    add_reference(table.cell(1, 0).paragraphs[0], "footnote", 4)
    document.add_paragraph("End.")
    add_notes(document, "footnotes", {2: "Source A.", 3: "Source B.", 4: "Source C.", 5: "Of 2024.", 9: "unused"})
    add_notes(document, "endnotes", {1: "By the end."})
    assert texts(parse_named("a.docx", saved(document))) == [
        "## Results[^1]",
        "[^1]: Of 2024.",
        "It holds[^2] in general[^3]",
        "[^2]: Source A.",
        "[^3]: By the end.",
        "Next.",
        "- item[^4]\n- other",
        "| a | b |\n| --- | --- |\n| c[^5] | d |",
        "[^4]: Source B.",
        "[^5]: Source C.",
        "End.",
    ]


def test_a_thousand_notes_take_no_time_of_their_own() -> None:
    """The reading order is rebuilt once, not for each note."""
    document = docx.Document()
    style = document.styles["Normal"]
    for number in range(1, 1001):
        add_reference(document.add_paragraph(f"claim {number}", style=style), "footnote", number)
    add_notes(document, "footnotes", {number: f"source {number}" for number in range(1, 1001)})
    read = texts(parse_named("a.docx", saved(document)))
    assert len(read) == 2000
    assert read[-2:] == ["claim 1000[^1000]", "[^1000]: source 1000"]


def test_comments_name_their_author() -> None:
    """A comment is a quote behind the paragraph it is about."""
    document = docx.Document()
    paragraph = document.add_paragraph("We open at nine.")
    document.add_comment(paragraph.runs, text="At eight since May.", author="Ada (Office)", initials="A")
    document.add_paragraph("We close at five.")
    parsed = parse_named("a.docx", saved(document))
    first, comment, last = texts(parsed)
    assert (first, last) == ("We open at nine.", "We close at five.")
    assert comment.startswith("> Comment by Ada (Office), 2")
    assert comment.endswith(": At eight since May.")
    assert parsed.blocks[1].kind == "quote"


def test_tracked_changes_are_taken_as_accepted() -> None:
    """Inserted text is kept, deleted text is not."""
    document = docx.Document()
    paragraph = document.add_paragraph("We ")
    append_xml(paragraph, '<w:del w:id="1" w:author="x"><w:r><w:delText>never</w:delText></w:r></w:del>')
    append_xml(paragraph, '<w:ins w:id="2" w:author="x"><w:r><w:t>always</w:t></w:r></w:ins>')
    assert parse_named("a.docx", saved(document)).markdown == "We always\n"


def test_headers_and_footers_are_left_out() -> None:
    """Headers and footers are left out, because they belong to no single place."""
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Confidential"
    document.sections[0].footer.paragraphs[0].text = "Page 1"
    document.add_paragraph("Text.")
    assert parse_named("a.docx", saved(document)).markdown == "Text.\n"


def test_links_equations_and_nested_tables() -> None:
    """A link keeps its target, an equation is LaTeX, a table in a cell is text of the cell."""
    document = docx.Document()
    paragraph = document.add_paragraph("See ")
    link = document.part.relate_to("https://example.org/a_(b)", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    paragraph._p.append(
        parse_xml(f'<w:hyperlink {nsdecls("w", "r")} r:id="{link}"><w:r><w:t>the rules</w:t></w:r></w:hyperlink>')
    )
    equation = document.add_paragraph("where ")
    equation._p.append(
        parse_xml(
            f"<m:oMath {_MATH}><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num>"
            "<m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>"
        )
    )
    table = document.add_table(2, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "head", "other"
    inner = table.cell(1, 0).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "in", "side"
    read = texts(parse_named("a.docx", saved(document)))
    assert read[0] == "See [the rules](https://example.org/a_(b))"
    assert "\\frac{a}{b}" in read[1]
    assert read[2].splitlines()[:2] == ["| head | other |", "| --- | --- |"]
    assert "in side" in read[2]


def test_several_rows_of_headings_become_one() -> None:
    """Cells merged over columns and rows are said in each place, so that a row reads well alone."""
    document = docx.Document()
    table = document.add_table(3, 3)
    for row, line in enumerate((("Sales", "", ""), ("region", "Q1", "Q2"), ("east", "1", "2"))):
        for column, text in enumerate(line):
            table.cell(row, column).text = text
    table.cell(0, 0).merge(table.cell(0, 2)).text = "Sales"
    lines = texts(parse_named("a.docx", saved(document)))[0].splitlines()
    assert lines[1] == "| --- | --- | --- |"
    assert lines[-1] == "| east | 1 | 2 |"


def test_words_and_punctuation_stay_whole() -> None:
    """A format within a word does not cut it, and no space comes before a comma."""
    document = docx.Document()
    paragraph = document.add_paragraph("H")
    paragraph.add_run("2").font.subscript = True
    paragraph.add_run("O is ")
    paragraph.add_run("wet").bold = True
    paragraph.add_run(", mostly (")
    paragraph.add_run("see").italic = True
    paragraph.add_run(").")
    assert parse_named("a.docx", saved(document)).markdown == "H2O is **wet**, mostly (*see*).\n"


def test_the_unit_of_a_chart_stands_behind_its_title() -> None:
    """As it is written at the axis of its values."""
    document = docx.Document()
    axis = "<c:valAx><c:title><c:tx><c:rich><a:p><a:r><a:t>metres</a:t></a:r></a:p></c:rich></c:tx></c:title></c:valAx>"
    series = (
        "<c:ser><c:cat><c:strLit><c:ptCount val='1'/><c:pt idx='0'><c:v>Mole</c:v></c:pt></c:strLit></c:cat><c:val>"
    )
    series += "<c:numLit><c:ptCount val='1'/><c:pt idx='0'><c:v>7</c:v></c:pt></c:numLit></c:val></c:ser>"
    title = "<c:title><c:tx><c:rich><a:p><a:r><a:t>Depths</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    plot = f"<c:plotArea><c:barChart>{series}</c:barChart>{axis}</c:plotArea>"
    xml = f"<c:chartSpace {nsdecls('c', 'a')}><c:chart>{title}{plot}</c:chart></c:chartSpace>"
    kind = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
    part = Part(PackURI("/word/charts/chart1.xml"), kind, xml.encode(), document.part.package)
    number = document.part.relate_to(part, f"{nsmap['r']}/chart")
    shown = f'<w:r><w:drawing><wp:inline {nsdecls("wp", "a", "r", "c")}><wp:extent cx="9" cy="9"/><a:graphic>'
    shown += f'<a:graphicData uri="{nsmap["c"]}"><c:chart r:id="{number}"/></a:graphicData></a:graphic></wp:inline>'
    append_xml(document.add_paragraph(), f"{shown}</w:drawing></w:r>")
    assert "Bar chart: Depths (metres)" in parse_named("a.docx", saved(document)).markdown
