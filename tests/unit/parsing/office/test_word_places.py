"""One word in every wrapper of Word, in every place where words may stand: none is lost, and none is read twice."""

import re
from collections.abc import Callable

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from tests.unit.parsing.office.office_files import Change, add_notes, add_reference, changed, parse_named, saved

_COMPATIBILITY = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
_NAMESPACES = (
    f'{nsdecls("w", "w14", "m", "wp", "a")} {_COMPATIBILITY} xmlns:v="urn:schemas-microsoft-com:vml"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:own="http://example.org/own"'
)
_TRACKED = 'w:id="1" w:author="A" w:date="2026-01-02T03:04:05Z"'


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(content: str, properties: str = "") -> str:
    return f"<w:p>{properties and f'<w:pPr>{properties}</w:pPr>'}{content}</w:p>"


def control(content: str, properties: str = "") -> str:
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def choice(first: str, second: str, requires: str = "wps") -> str:
    return (
        f'<mc:AlternateContent><mc:Choice Requires="{requires}">{first}</mc:Choice>'
        f"<mc:Fallback>{second}</mc:Fallback></mc:AlternateContent>"
    )


def cell(content: str) -> str:
    return f"<w:tc><w:tcPr/>{content}</w:tc>"


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(cells)}</w:tr>"


def table(*rows: str) -> str:
    return f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>{''.join(rows)}</w:tbl>"


def drawn(content: str) -> str:
    box = f"<wps:wsp><wps:txbx><w:txbxContent>{content}</w:txbxContent></wps:txbx></wps:wsp>"
    graphic = f'<a:graphic><a:graphicData uri="x">{box}</a:graphicData></a:graphic>'
    shown = f'<w:drawing><wp:inline><wp:docPr id="1" name="Box 1"/>{graphic}</wp:inline></w:drawing>'
    old = f"<w:pict><v:rect><v:textbox><w:txbxContent>{content}</w:txbxContent></v:textbox></v:rect></w:pict>"
    return f"<w:r>{choice(shown, old)}</w:r>"


def field(content: str) -> str:
    begin, separate, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end"))
    return f"{begin}<w:r><w:instrText>REF place</w:instrText></w:r>{separate}{content}{end}"


Wrap = Callable[[str], str]
_SIMPLE: dict[str, Wrap] = {
    "control": control,
    "choice": lambda x: choice(x, run("Fallback")),
    "fallback": lambda x: choice(run("Unknown"), x, requires="own"),
    "link": lambda x: f'<w:hyperlink w:anchor="place">{x}</w:hyperlink>',
    "field": field,
    "inserted": lambda x: f"<w:ins {_TRACKED}>{x}</w:ins>",
    "moved": lambda x: f"<w:moveTo {_TRACKED}>{x}</w:moveTo>",
    "smart tag": lambda x: f'<w:smartTag w:element="x"><w:smartTagPr/>{x}</w:smartTag>',
    "data": lambda x: f'<w:customXml w:element="x"><w:customXmlPr/>{x}</w:customXml>',
    "simple field": lambda x: f'<w:fldSimple w:instr="REF x">{x}</w:fldSimple>',
    "direction": lambda x: f'<w:bdo w:val="rtl">{x}</w:bdo>',
    "embedding": lambda x: f'<w:dir w:val="ltr">{x}</w:dir>',
    "reading": lambda x: f"<w:r><w:ruby><w:rubyPr/><w:rt/><w:rubyBase>{x}</w:rubyBase></w:ruby></w:r>",
}
_WRAPPERS = _SIMPLE | {
    f"{outer} around {inner}": (lambda x, one=one, other=other: one(other(x)))
    for outer, one in _SIMPLE.items()
    for inner, other in _SIMPLE.items()
    if outer in {"control", "link", "simple field"} and inner not in {outer, "reading"}
}
"""Each wrapper of a run, and each in those that people use most."""
_PLACES: dict[str, Wrap] = {
    "paragraph": lambda x: paragraph(run("Before ") + x + run(" after.")),
    "heading": lambda x: paragraph(run("Part ") + x, '<w:outlineLvl w:val="0"/>'),
    "list": lambda x: paragraph(x, '<w:pStyle w:val="ListBullet"/>'),
    "cell": lambda x: table(row(cell(paragraph(run("Name"))), cell(paragraph(x)))),
    "formatted cell": lambda x: table(row(cell(paragraph(run("Name"))), cell(paragraph(run("One")) + paragraph(x)))),
    "nested table": lambda x: table(
        row(cell(paragraph(run("a"))), cell(table(row(cell(paragraph(x)), cell(paragraph(run("b"))))) + paragraph("")))
    ),
    "controlled block": lambda x: control(paragraph(x)),
    "chosen block": lambda x: choice(paragraph(x), paragraph(x)),
    "controlled block of a cell": lambda x: table(row(cell(paragraph(run("a"))), cell(control(paragraph(x))))),
    "controlled cell": lambda x: table(row(cell(paragraph(run("a"))), control(cell(paragraph(x))))),
    "controlled row": lambda x: table(
        row(cell(paragraph(run("a"))), cell(paragraph(run("b")))),
        control(row(cell(paragraph(run("c"))), cell(paragraph(x)))),
    ),
    "controlled table": lambda x: control(table(row(cell(paragraph(run("a"))), cell(paragraph(x))))),
    "data around a row": lambda x: table(
        f'<w:customXml w:element="x">{row(cell(paragraph(run("c"))), cell(paragraph(x)))}</w:customXml>'
    ),
    "text box": lambda x: paragraph(drawn(paragraph(x))),
    "text box of a cell": lambda x: table(row(cell(paragraph(run("a"))), cell(paragraph(drawn(paragraph(x)))))),
}


def words(text: str) -> list[str]:
    """Return the words of the test in a text, sorted."""
    return sorted(re.findall(r"kiwi[\w-]+", text))


@pytest.mark.parametrize("place", _PLACES)
def test_a_word_is_read_once_whatever_is_around_it(place: str) -> None:
    """A template is made of such wrappers, and each program puts them in other places."""
    document = docx.Document()
    body = "".join(_PLACES[place](wrap(run(f"kiwi{name.replace(' ', '-')}"))) for name, wrap in _WRAPPERS.items())
    for element in parse_xml(f"<w:body {_NAMESPACES}>{body}</w:body>"):
        document.element.body.insert(len(document.element.body) - 1, element)
    expected = sorted(f"kiwi{name.replace(' ', '-')}" for name in _WRAPPERS)
    assert words(parse_named("a.docx", saved(document)).markdown) == expected


@pytest.mark.parametrize("wrapper", _SIMPLE)
def test_notes_comments_and_headers_are_read_alike(wrapper: str) -> None:
    """A note and a comment have the word, and the account of what is left out names the header's."""
    document = docx.Document()
    mark = document.add_paragraph("Text")
    add_notes(document, "footnotes", {1: "NOTE"})
    add_reference(mark, "footnote", 1)
    document.add_comment(mark.runs[0], "REMARK", author="A")
    document.sections[0].header.paragraphs[0].text = "HEADER"
    wrapped = _SIMPLE[wrapper]

    def wrap(part: bytes) -> bytes:
        text = part.decode()
        for word in ("NOTE", "REMARK", "HEADER"):
            text = text.replace(f"<w:r><w:t>{word}</w:t></w:r>", wrapped(run(f"kiwi{word}")))
        return re.sub(r"<(w:(?:footnotes|comments|hdr)) [^>]*>", rf"<\1 {_NAMESPACES} {nsdecls('r')}>", text).encode()

    changes: dict[str, Change] = dict.fromkeys(("word/footnotes.xml", "word/comments.xml", "word/header1.xml"), wrap)
    parsed = parse_named("a.docx", changed(saved(document), changes))
    assert words(parsed.markdown) == ["kiwiNOTE", "kiwiREMARK"]
    assert parsed.metadata["left_out"]["texts"] == ["kiwiHEADER"]  # type: ignore[index, call-overload] # it is one
