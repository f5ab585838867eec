"""Office documents of one XML file, and documents under a borrowed ending, are read as what they are."""

from base64 import b64encode
from io import BytesIO
from zipfile import ZipFile

import docx
import pytest

from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.parse import parse
from sourcebook.parsing.registry import file_type

_SHEET = """<?xml version="1.0"?>
<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"
 xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns:o="urn:schemas-microsoft-com:office:office">
<o:DocumentProperties><o:Title>Tolls</o:Title><o:Author>Torkel</o:Author></o:DocumentProperties>
<Styles><Style ss:ID="p"><NumberFormat ss:Format="Percent"/></Style><Style ss:ID="s" ss:Parent="p"/>
<Style ss:ID="d"><NumberFormat ss:Format="Short Date"/></Style></Styles>
<Worksheet ss:Name="Tolls"><Table>
<Row><Cell><Data ss:Type="String">Ship</Data></Cell><Cell><Data ss:Type="String">Share</Data></Cell>
<Cell><Data ss:Type="String">Day</Data></Cell></Row>
<Row ss:Index="2"><Cell ss:HRef="https://havfrue.example/"><Data ss:Type="String">Havfrue</Data></Cell>
<Cell ss:StyleID="s" ss:Formula="=1/8"><Data ss:Type="Number">0.125</Data></Cell>
<Cell ss:StyleID="d"><Data ss:Type="DateTime">2026-03-03T00:00:00.000</Data></Cell></Row>
<Row><Cell ss:MergeAcross="1"><Data ss:Type="String">none <B xmlns="http://www.w3.org/TR/REC-html40">paid</B></Data></Cell>
<Cell><Data ss:Type="Boolean">1</Data><Comment ss:Author="Ulv"><ss:Data>looked at</ss:Data></Comment></Cell></Row>
</Table></Worksheet>
<Worksheet ss:Name="Drafts"><Table>
<Row><Cell ss:Index="2"><Data ss:Type="String">only a draft</Data></Cell></Row></Table>
<x:WorksheetOptions><x:Visible>SheetHidden</x:Visible></x:WorksheetOptions></Worksheet></Workbook>
"""
_WORD = """<?xml version="1.0" encoding="UTF-8"?>
<?mso-application progid="Word.Document"?>
<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml"
 xmlns:wx="http://schemas.microsoft.com/office/word/2003/auxHint" xmlns:aml="http://schemas.microsoft.com/aml/2001/core"
 xmlns:o="urn:schemas-microsoft-com:office:office">
<o:DocumentProperties><o:Title>Terms of hire</o:Title></o:DocumentProperties>
<w:lists><w:listDef w:listDefId="0">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:nfc w:val="4"/><w:lvlText w:val="(%1)"/></w:lvl>
</w:listDef><w:list w:ilfo="1"><w:ilst w:val="0"/></w:list></w:lists>
<w:styles><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/>
<w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style></w:styles>
<w:body><wx:sect>
<wx:sub-section><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Terms</w:t></w:r></w:p></wx:sub-section>
<w:p><w:r><w:t>The hire costs </w:t></w:r>
<aml:annotation w:type="Word.Deletion" aml:author="A"><aml:content>
<w:r><w:delText>forty</w:delText></w:r></aml:content></aml:annotation>
<aml:annotation w:type="Word.Insertion"><aml:content><w:r><w:t>ninety</w:t></w:r></aml:content></aml:annotation>
<w:r><w:t> crowns.</w:t></w:r><w:r><w:footnote><w:p><w:r><w:t>Paid at noon.</w:t></w:r></w:p></w:footnote></w:r>
<w:hlink w:dest="https://pier.example/"><w:r><w:t>The pier</w:t></w:r></w:hlink>
<aml:annotation w:type="Word.Comment" aml:author="Ulv"><aml:content>
<w:p><w:r><w:t>Too dear?</w:t></w:r></w:p></aml:content></aml:annotation></w:p>
<w:p><w:pPr><w:listPr><w:ilvl w:val="0"/><w:ilfo w:val="1"/></w:listPr></w:pPr><w:r><w:t>Keep it dry.</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Wood</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Oak</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:sectPr><w:hdr w:type="odd"><w:p><w:r><w:t>Harbour office</w:t></w:r></w:p></w:hdr></w:sectPr>
</wx:sect></w:body></w:wordDocument>
"""


def _read(content: bytes, name: str) -> ParsedDocument:
    found = file_type(name, content[:4096])
    assert found.skip_reason is None
    return parse(content, name=name, media_type=found.media_type)


@pytest.mark.parametrize("name", ["tolls.xls", "tolls.xml", "tolls", "tolls.txt"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_spreadsheet_of_2003(name: str, encoding: str) -> None:
    """Its sheets are those of a workbook: formats, dates, merged cells, links, comments and hidden sheets."""
    document = _read(_SHEET.encode(encoding), name)

    assert document.markdown == (
        "## Tolls\n\n| Ship | Share | Day |\n| --- | --- | --- |\n"
        "| [Havfrue](https://havfrue.example/) | 12.50% | 2026-03-03 |\n| none paid | none paid | TRUE |\n\n"
        "> Comment on C3 by Ulv: looked at\n\n## Drafts (hidden)\n\nonly a draft\n"
    )
    assert document.title == "Tolls"
    assert document.metadata["author"] == "Torkel"


def test_document_of_word_2003() -> None:
    """Its headings, lists, notes and links are those of a document; what was deleted is none of its text."""
    document = _read(_WORD.encode(), "terms.doc")

    assert document.title == "Terms of hire"
    lines = document.markdown.split("\n\n")
    assert lines[0] == "## Terms"
    assert " ".join(lines[1].split()) == "The hire costs ninety crowns.[^1] [The pier](https://pier.example/)"
    assert {"Comment by Ulv: Too dear?", "[^1]: Paid at noon.", "- (a) Keep it dry."} <= set(lines)
    assert "| Wood | Oak |" in document.markdown
    assert "forty" not in document.markdown
    assert "Harbour office" in str(document.metadata["left_out"])


def test_flat_package_is_its_document() -> None:
    """A document that Word saved as one XML file reads like the archive, under any ending."""
    written = docx.Document()
    written.add_heading("Weir", 1)
    written.add_paragraph("The weir was built by the millers.")
    file = BytesIO()
    written.save(file)

    for name in ("weir.xml", "weir.doc", "weir.docx", "weir.txt"):
        assert _read(_flat(file.getvalue()), name).markdown == "## Weir\n\nThe weir was built by the millers.\n"


@pytest.mark.parametrize("name", ["weir.doc", "weir.odt", "weir.xlsx", "weir.zip", "weir.txt", "weir.rtf", "weir"])
def test_archive_of_an_office_document_is_that(name: str) -> None:
    """The parts of an archive decide over the ending of its name."""
    written = docx.Document()
    written.add_paragraph("The weir was built by the millers.")
    file = BytesIO()
    written.save(file)

    assert _read(file.getvalue(), name).markdown == "The weir was built by the millers.\n"


@pytest.mark.parametrize("content", [_SHEET.replace("Workbook", "Notebook"), _WORD.replace("<w:body>", "<w:soul>")])
def test_other_xml_under_the_media_type_is_refused(content: str) -> None:
    """XML that is no workbook or document, or damaged, fails with what it is."""
    with pytest.raises(ParseError):
        parse(content.encode(), name="a.xls", media_type="application/vnd.ms-excel")
    with pytest.raises(ParseError):
        parse(content.encode(), name="a.doc", media_type="application/msword")


def _flat(content: bytes) -> bytes:
    with ZipFile(BytesIO(content)) as archive:
        types = {part.partname: part.content_type for part in docx.Document(BytesIO(content)).part.package.iter_parts()}
        parts = []
        for entry in archive.namelist():
            kind = types.get(f"/{entry}", "application/vnd.openxmlformats-package.relationships+xml")
            held = archive.read(entry)
            if entry == "[Content_Types].xml":
                continue
            body = (
                f"<pkg:xmlData>{held.decode().partition('?>')[2]}</pkg:xmlData>"
                if held.startswith(b"<?xml")
                else f"<pkg:binaryData>{b64encode(held).decode()}</pkg:binaryData>"
            )
            parts.append(f'<pkg:part pkg:name="/{entry}" pkg:contentType="{kind}">{body}</pkg:part>')
    return (
        '<?xml version="1.0" standalone="yes"?>\n<?mso-application progid="Word.Document"?>\n<pkg:package'
        f' xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">{"".join(parts)}</pkg:package>'
    ).encode()
