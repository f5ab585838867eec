"""Strict Open XML, and diagrams, whose text libraries leave out."""

import re
from io import BytesIO
from zipfile import ZipFile

import docx
import pptx
import pytest
from docx.opc.packuri import PackURI as WordURI
from docx.opc.part import Part as WordPart
from docx.oxml import parse_xml
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml as parse_slide_xml

from tests.unit.parsing.office.office_files import changed, parse_named, saved, slides_file, word_file, workbook_file

_TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/diagramData"
_KIND = "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml"
_NAMESPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
)


def point(key: str, text: str = "", kind: str = "node") -> str:
    body = f"<dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t>" if text else ""
    return f'<dgm:pt modelId="{key}" type="{kind}">{body}</dgm:pt>'


def link(above: str, below: str, order: int) -> str:
    return f'<dgm:cxn modelId="{above}{below}" srcId="{above}" destId="{below}" srcOrd="{order}" destOrd="0"/>'


LINKS = link("0", "2", 1) + link("0", "1", 0) + link("1", "3", 0) + link("3", "1", 0)
POINTS = "".join(
    [point("0", kind="doc"), *map(point, "23", ("Ebb", "High water")), point("1", "Flood"), point("4", "Slack")]
)
DIAGRAM = (
    f"<dgm:dataModel {_NAMESPACES}><dgm:ptLst>{POINTS}</dgm:ptLst><dgm:cxnLst>{LINKS}</dgm:cxnLst></dgm:dataModel>"
).encode()
SHOWN = (
    '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/diagram">'
    '<dgm:relIds r:dm="{}" r:lo="rId98" r:qs="rId98" r:cs="rId98"/></a:graphicData></a:graphic>'
)
TEXTS = ["Flood", "High water", "Ebb", "Slack"]


def strict(content: bytes) -> bytes:
    """Return an office file as Office saves it in the strict form."""

    def renamed(part: bytes) -> bytes:
        return re.sub(
            rb"http://schemas\.openxmlformats\.org/(\w+)/2006/(\w+)", rb"http://purl.oclc.org/ooxml/\1/\2", part
        )

    with ZipFile(BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(r"(?:word|ppt|xl|_rels)/.*(?:xml|rels)", name)]
    return changed(content, dict.fromkeys(names, renamed))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.docx", word_file("high water")),
        ("a.pptx", slides_file("high water")),
        ("a.xlsx", workbook_file("high water")),
    ],
)
def test_strict_files_are_read_like_others(name: str, content: bytes) -> None:
    """The libraries find nothing in a strict workbook, and refuse a strict presentation."""
    assert "high water" in parse_named(name, content).markdown
    assert parse_named(name, strict(content)).markdown == parse_named(name, content).markdown


def test_the_text_of_a_diagram_stands_on_its_slide() -> None:
    """Each text before those below it; links in a circle, and texts without a link, lose nothing."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Tides"
    part = Part(PackURI("/ppt/diagrams/data1.xml"), _KIND, presentation.part.package, DIAGRAM)
    slide.shapes._spTree.append(
        parse_slide_xml(
            f'<p:graphicFrame {_NAMESPACES}><p:nvGraphicFramePr><p:cNvPr id="9" name="d"/><p:cNvGraphicFramePr/>'
            f'<p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="2000000"/><a:ext cx="9" cy="9"/></p:xfrm>'
            f"{SHOWN.format(slide.part.relate_to(part, _TYPE))}</p:graphicFrame>"
        )
    )
    slide.shapes.add_textbox(0, 5_000_000, 9, 9).text_frame.text = "after"
    markdown = parse_named("a.pptx", saved(presentation)).markdown
    assert re.findall("Tides|after|" + "|".join(TEXTS), markdown) == ["Tides", *TEXTS, "after"]


def test_the_text_of_a_diagram_follows_its_paragraph() -> None:
    """In a Word document."""
    document = docx.Document()
    paragraph = document.add_paragraph("The tide:")
    document.add_paragraph("after")
    part = WordPart(WordURI("/word/diagrams/data1.xml"), _KIND, DIAGRAM, document.part.package)
    drawing = f"<w:r {_NAMESPACES}><w:drawing>{SHOWN.format(document.part.relate_to(part, _TYPE))}</w:drawing></w:r>"
    paragraph._p.append(parse_xml(drawing))  # python-docx adds no diagrams
    assert parse_named("a.docx", saved(document)).markdown.split("\n\n") == ["The tide:", *TEXTS, "after\n"]
