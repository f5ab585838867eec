"""Files embedded in office documents are their attachments, with the bytes that they have outside."""

import hashlib
import struct
from io import BytesIO
from zipfile import ZipFile

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from sourcebook.errors import ParseError
from sourcebook.model.media_types import DOC, ODS, ODT, PDF, XLSX
from sourcebook.parsing.office.embedded_files import embedded_content
from sourcebook.parsing.parse import parse
from tests.unit.parsing.office.binary_office_files import binary_document, compound_file
from tests.unit.parsing.office.office_files import (
    changed,
    parse_named,
    saved,
    slides_file,
    with_embedded,
    workbook_file,
)

_PDF = b"%PDF-1.4 the plan"


def dropped(name: str, content: bytes) -> bytes:
    """Return the stream of a file that was dropped into a document, with its name in a code page and in Unicode."""
    path = f"C:\\{name}"
    old = name.encode("cp1252", "replace") + b"\0" + path.encode("cp1252", "replace") + b"\0"
    copy = path.encode("cp1252", "replace") + b"\0"
    body = (
        b"\x02\0"
        + old
        + b"\0\0\x03\0"
        + struct.pack("<I", len(copy))
        + copy
        + struct.pack("<I", len(content))
        + content
    )
    for text in (path, name, path):
        body += struct.pack("<I", len(text)) + text.encode("utf-16-le")
    return struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    ("part", "content", "name", "media_type", "held"),
    [
        ("Sheet1.xlsx", workbook_file(), "Sheet1.xlsx", XLSX, None),
        ("oleObject1.bin", compound_file([("Package", workbook_file())]), "oleObject1.xlsx", XLSX, workbook_file()),
        ("oleObject1.bin", compound_file([("CONTENTS", _PDF)]), "oleObject1.pdf", PDF, _PDF),
        ("oleObject1.bin", binary_document("Old text.\n"), "oleObject1.doc", DOC, None),
        ("a.bin", compound_file([("\x01Ole10Native", dropped("Plan žluť.pdf", _PDF))]), "Plan žluť.pdf", PDF, _PDF),
    ],
)
def test_each_way_to_embed_a_file(part: str, content: bytes, name: str, media_type: str, held: bytes | None) -> None:
    """As a part, in an OLE object, as an OLE object, and dropped into the document."""
    document = with_embedded({part: content})
    parsed = parse_named("a.docx", document)
    assert [(each.name, each.media_type) for each in parsed.attachments] == [(name, media_type)]
    assert parsed.markdown == f"Within are files.\n\nAttachments: {name}\n"
    found = embedded_content(document, number=0)
    assert found.startswith(held or content)
    assert hashlib.sha256(found).digest() == parsed.attachments[0].sha256


def test_files_in_files() -> None:
    """A workbook in a Word file in a Word file is an attachment of the outer one."""
    document = with_embedded({"inner.docx": with_embedded({"Sheet.xlsx": workbook_file("deep")})})
    assert [each.name for each in parse_named("a.docx", document).attachments] == ["inner.docx", "Sheet.xlsx"]
    assert embedded_content(document, number=1).startswith(b"PK")
    with pytest.raises(ParseError, match="no file of the number 2"):
        embedded_content(document, number=2)


def test_objects_that_are_not_read_are_counted() -> None:
    """Such as an equation of an old editor, and a part that is damaged."""
    document = with_embedded({"oleObject1.bin": compound_file([("Equation Native", b"x")]), "b.bin": _PDF})
    parsed = parse_named("a.docx", document)
    assert [each.name for each in parsed.attachments] == ["b.bin"]
    assert parsed.metadata["left_out"] == {"objects": 1}


def test_the_workbook_of_a_chart_is_its_table() -> None:
    """Its numbers are in the text already."""
    presentation = pptx.Presentation()
    data = CategoryChartData()  # type: ignore[no-untyped-call] # python-pptx has no types there
    data.categories = ["spring"]
    data.add_series("Herring", (17,))  # type: ignore[no-untyped-call]
    shapes = presentation.slides.add_slide(presentation.slide_layouts[5]).shapes
    shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(5), Inches(3), data)
    parsed = parse_named("a.pptx", saved(presentation))
    assert "| spring | 17" in parsed.markdown
    assert not parsed.attachments


def test_objects_of_opendocument() -> None:
    """A spreadsheet is a folder in the file, and always the same bytes; a chart is counted."""
    inner = parts_of({"mimetype": ODS, "content.xml": sheet("Kaldfjord")})
    entries = f'<manifest:file-entry manifest:full-path="Object 1/" manifest:media-type="{ODS}"/>'
    entries += '<manifest:file-entry manifest:media-type="application/vnd.oasis.opendocument.chart" '
    entries += 'manifest:full-path="Object 2/"/>'
    text = "<office:text><text:p>Boilers</text:p></office:text>"
    content = parts_of(
        {
            "mimetype": ODT,
            "content.xml": document(text),
            "Object 1/content.xml": sheet("Kaldfjord"),
            "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="urn:m">{entries}</manifest:manifest>',
        }
    )
    parsed = parse(content, name="a.odt", media_type=ODT)
    assert [(each.name, each.media_type) for each in parsed.attachments] == [("Object 1.ods", ODS)]
    found = embedded_content(content, number=0)
    assert found == embedded_content(content, number=0)
    assert parse(found, name="a.ods", media_type=ODS).markdown == parse(inner, name="a.ods", media_type=ODS).markdown
    assert parsed.metadata["left_out"] == {"objects": 1}


def document(body: str) -> str:
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table")
    )
    return f"<office:document-content {names}><office:body>{body}</office:body></office:document-content>"


def sheet(text: str) -> str:
    cell = f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
    row = f"<table:table-row>{cell}</table:table-row>"
    return document(f'<office:spreadsheet><table:table table:name="S">{row}</table:table></office:spreadsheet>')


def parts_of(parts: dict[str, str]) -> bytes:
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return packed.getvalue()


def test_a_damaged_object_costs_no_document() -> None:
    """The text is read, whatever the object is."""
    broken = compound_file([("\x01Ole10Native", b"\x05\0\0\0\x02\0abc")])
    parsed = parse_named("a.pptx", changed(slides_file(), {"ppt/embeddings/o.bin": lambda _: broken[:1500]}))
    assert parsed.markdown.startswith("# hello")
