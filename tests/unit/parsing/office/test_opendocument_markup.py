"""Markup of OpenDocument texts beside plain paragraphs: nothing that is shown is lost, nothing is glued."""

import re
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from sourcebook.model.document import ParsedDocument
from tests.unit.parsing.office.office_files import changed, parse_named

TEXT = (Path(__file__).parent.parent / "files" / "lock.odt").read_bytes()
_HIDING = '<style:style style:name="{}" style:family="text"><style:text-properties text:display="none"/></style:style>'
_STYLES = (
    f"{_HIDING.format('Gone')}<style:style style:name='Below' style:family='paragraph' style:parent-style-name='Gone'/>"
)


def read(body: str, **parts: str) -> ParsedDocument:
    """Parse a text with this markup as its whole body, and with further parts."""

    def change(content: bytes) -> bytes:
        text = re.sub(r"(<office:text[^>]*>).*(</office:text>)", rf"\1{body}\2", content.decode(), flags=re.DOTALL)
        return re.sub(r"(<office:automatic-styles[^>]*>)", rf"\1{_STYLES}", text).encode()

    file = BytesIO(changed(TEXT, {"content.xml": change}))
    with ZipFile(file, "a") as archive:
        for name, part in parts.items():
            archive.writestr(f"{name}/content.xml", part)
    return parse_named("a.odt", file.getvalue())


def items(*contents: str) -> str:
    held = "".join(f"<text:list-item>{content}</text:list-item>" for content in contents)
    return f"<text:list>{held}</text:list>"


def test_all_blocks_of_a_list_item_are_kept_apart() -> None:
    """A second paragraph of an item is a line of its own, and a table in an item follows the list."""
    table = (
        '<table:table><table:table-column table:number-columns-repeated="2"/><table:table-row>'
        "<table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    )
    document = read(items("<text:p>one</text:p><text:p>more</text:p>", f"<text:p>two</text:p>{table}"))
    assert document.markdown == "- one  \nmore\n- two\n\n| a | b |\n| --- | --- |\n"


def test_headings_numbered_by_a_list_are_headings() -> None:
    """Older programs number headings by lists around them; the other items stay lists."""
    inner = items('<text:h text:outline-level="2">Scope</text:h>')
    document = read(items('<text:h text:outline-level="1">Rules</text:h>', inner, "<text:p>first</text:p>"))
    assert document.markdown == "## Rules\n\n### Scope\n\n- first\n"
    assert [block.kind for block in document.blocks] == ["heading", "heading", "list"]


def test_indexes_and_numbered_paragraphs_are_kept() -> None:
    """Contents and bibliographies, which the program generates, are text like any other."""
    document = read(
        "<text:bibliography><text:index-body><text:index-title><text:p>Sources</text:p></text:index-title>"
        "<text:p>Smith 2000</text:p></text:index-body></text:bibliography>"
        "<text:numbered-paragraph><text:p>clause</text:p></text:numbered-paragraph>"
    )
    assert document.markdown == "Sources\n\nSmith 2000\n\nclause\n"


def test_readings_stand_behind_their_words() -> None:
    """Words with readings over them (ruby) stay whole, with the readings in brackets behind them."""
    ruby = "".join(
        f"<text:ruby><text:ruby-base>{base}</text:ruby-base><text:ruby-text>{reading}</text:ruby-text></text:ruby>"
        for base, reading in (("漢", "かん"), ("字", "じ"))
    )
    assert read(f"<text:p>A {ruby} B</text:p>").markdown == "A 漢字(かん)(じ) B\n"


def test_formulas_are_text_in_their_place() -> None:
    """A formula is kept as LibreOffice writes it in words; damage to its part costs the formula alone."""
    formula = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mi>E</mi>'
        '<annotation encoding="StarMath 5.0">E = m c^2</annotation></semantics></math>'
    )

    def frame(name: str) -> str:
        return f'<draw:frame><draw:object xlink:href="./{name}"/></draw:frame>'

    body = f"<text:p>Energy {frame('Object1')}, then {frame('Object2')}.</text:p>"
    document = read(body, Object1=formula, Object2="<math")
    assert " ".join(document.markdown.split()) == "Energy E = m c^2 , then ."


def test_hidden_text_is_left_out_and_counted() -> None:
    """Words and paragraphs hidden by their style, by a style above it or by a field are counted in the metadata."""
    document = read(
        '<text:p>Shown <text:span text:style-name="Gone">hidden words</text:span></text:p>'
        '<text:p text:style-name="Below">all hidden</text:p>'
        '<text:p><text:hidden-paragraph text:is-hidden="true"/>by a field</text:p>'
    )
    assert document.markdown == "Shown\n"
    left_out = document.metadata["left_out"]
    assert isinstance(left_out, dict)
    assert (left_out["rows"], left_out["words"]) == (4, 8)  # with the footer of the file
    texts = left_out["texts"]
    assert isinstance(texts, list)
    assert texts[:3] == ["hidden words", "all hidden", "by a field"]
