"""Markup of OpenDocument texts beside plain paragraphs: nothing that is shown is lost, nothing is glued."""

import re
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from sourcebook.model.document import ParsedDocument
from tests.unit.parsing.office.office_files import changed, parse_named

FILES = Path(__file__).parent.parent / "files"
TEXT, SHEETS = ((FILES / name).read_bytes() for name in ("lock.odt", "levels.ods"))
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


def test_cells_of_other_programs_show_their_value() -> None:
    """Scripts write values alone; a paragraph without text, as behind a format that hides numbers, stays empty."""
    cells = (
        'office:value-type="float" office:value="1.5"',
        'office:value-type="percentage" office:value="0.125"',
        'office:value-type="currency" office:currency="EUR" office:value="7.2"',
        'office:value-type="date" office:date-value="2024-05-06T00:00:00"',
        'office:value-type="time" office:time-value="PT01H02M03S"',
        'office:value-type="boolean" office:boolean-value="true"',
        'office:value-type="string" office:string-value="words"',
    )
    row = "".join(f"<table:table-cell {cell}/>" for cell in cells)
    hidden = f"<table:table-cell {cells[0]}><text:p/></table:table-cell>"

    def change(content: bytes) -> bytes:
        sheet = f'<table:table table:name="S"><table:table-row>{row}{hidden}</table:table-row></table:table>'
        body = rf"\1{sheet}\2"
        text = re.sub(r"(<office:spreadsheet>).*(</office:spreadsheet>)", body, content.decode(), flags=re.DOTALL)
        return text.encode()

    markdown = parse_named("a.ods", changed(SHEETS, {"content.xml": change})).markdown
    assert "| 1.5 | 12.5% | 7.2 EUR | 2024-05-06 | 01:02:03 | TRUE | words |" in markdown


def test_entities_of_a_drawing_take_no_document_from_anyone() -> None:
    """Drawing programs declare them in their SVG files, which are pictures here and not read."""
    drawing = b'<!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/2000/svg">]><svg xmlns="&ns;"/>'
    document = parse_named("a.odt", changed(TEXT, {"Pictures/a.svg": lambda _: drawing}))
    assert "Never open" in document.markdown
