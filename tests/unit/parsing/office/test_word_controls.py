"""Content controls of Word files: values are text, what only asks for a value is none."""

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from tests.unit.parsing.office.office_files import parse_named, saved
from tests.unit.parsing.office.test_word_markup import paragraph, read, row, run

_RELATIONSHIPS = RELATIONSHIP_TYPE.STYLES.rpartition("/")[0]
_W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'


def control(content: str, properties: str = "") -> str:
    return f"<w:sdt {_W14}><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


_ASKS = '<w:showingPlcHdr/><w:placeholder><w:docPart w:val="P1"/></w:placeholder>'
_GREY = '<w:r><w:rPr><w:rStyle w:val="PlaceholderText"/></w:rPr><w:t>Click here to enter text.</w:t></w:r>'


def test_text_that_asks_for_a_value_is_no_text() -> None:
    """An empty field is empty, in a paragraph and in a cell, and the metadata count it."""
    cell = control(f"<w:tc>{paragraph(_GREY)}</w:tc>", _ASKS)
    document = read(
        paragraph(run("Name: ") + control(_GREY, _ASKS) + run(" of the ship"))
        + f"<w:tbl><w:tr><w:tc>{paragraph(run('Day'))}</w:tc>{cell}</w:tr>"
        f"<w:tr><w:tc>{paragraph(run('Crew'))}</w:tc><w:tc>{paragraph(run('ten'))}</w:tc></w:tr></w:tbl>"
    )
    assert document.markdown == "Name:  of the ship\n\n| Day |  |\n| --- | --- |\n| Crew | ten |\n"
    assert document.metadata["left_out"] == {"prompts": 2}


def test_a_value_that_a_program_left_marked_as_asking_is_text() -> None:
    """Where the document itself says what the field asks for, another text is a value."""
    document = docx.Document()
    paragraphs = parse_xml(f"<w:body {nsdecls('w')}>{paragraph(control(run('Sturmvogel'), _ASKS))}</w:body>")
    document.element.body.insert(0, paragraphs[0])
    asked = f'<w:docPartPr><w:name w:val="P1"/></w:docPartPr><w:docPartBody>{paragraph(_GREY)}</w:docPartBody>'
    parts = f"<w:docParts><w:docPart>{asked}</w:docPart></w:docParts>"
    xml = f"<w:glossaryDocument {nsdecls('w')}>{parts}</w:glossaryDocument>"
    part = Part(PackURI("/word/glossary/document.xml"), "application/xml", xml.encode(), document.part.package)
    document.part.relate_to(part, f"{_RELATIONSHIPS}/glossaryDocument")
    assert parse_named("a.docx", saved(document)).markdown == "Sturmvogel\n"


@pytest.mark.parametrize(
    ("properties", "shown", "expected"),
    [
        ("<w:text/>", "Old name", "Brynhild"),
        (_ASKS, "Click here", "Brynhild"),
        ('<w:dropDownList><w:listItem w:displayText="The brig" w:value="Brynhild"/></w:dropDownList>', "", "The brig"),
        ("<w:richText/>", "What a person wrote", "What a person wrote"),
    ],
)
def test_a_field_shows_the_data_that_it_is_bound_to(properties: str, shown: str, expected: str) -> None:
    """Programs fill templates by their data alone, and Word shows these when it opens the file."""
    identity = "{11111111-2222-3333-4444-555555555555}"
    names = "xmlns:s='urn:ship'"
    binding = f'<w:dataBinding w:prefixMappings="{names}" w:xpath="/s:ship[1]/s:name[1]" w:storeItemID="{identity}"/>'
    document = docx.Document()
    body = paragraph(control(run(shown), binding + properties))
    document.element.body.insert(0, parse_xml(f"<w:body {nsdecls('w')}>{body}</w:body>")[0])
    store = Part(
        PackURI("/customXml/item9.xml"), "application/xml", b'<ship xmlns="urn:ship"><name>Brynhild</name></ship>',
        document.part.package,
    )  # fmt: skip
    office = "http://schemas.openxmlformats.org/officeDocument/2006/customXml"
    about = f'<d:datastoreItem xmlns:d="{office}" d:itemID="{identity}"/>'
    described = Part(PackURI("/customXml/itemProps9.xml"), "application/xml", about.encode(), document.part.package)
    store.relate_to(described, f"{_RELATIONSHIPS}/customXmlProps")
    document.part.relate_to(store, f"{_RELATIONSHIPS}/customXml")
    assert parse_named("a.docx", saved(document)).markdown == f"{expected}\n"


def check_box(checked: str) -> str:
    return control(run("☐"), f'<w14:checkbox><w14:checked w14:val="{checked}"/></w14:checkbox>')


def test_check_boxes() -> None:
    """A paragraph that begins with one is a task; several, and one in a cell, are signs with their state."""
    cells = "".join(f"<w:tc>{paragraph(check_box(state))}</w:tc>" for state in "10")
    document = read(
        paragraph(check_box("1") + run(" Insured"))
        + paragraph(check_box("1") + run(" yes ") + check_box("0") + run(" no"))
        + f"<w:tbl>{row('Insured', 'Paid')}<w:tr>{cells}</w:tr></w:tbl>"
    )
    assert document.markdown == "- [x] Insured\n\n☒ yes ☐ no\n\n| Insured | Paid |\n| --- | --- |\n| ☒ | ☐ |\n"
