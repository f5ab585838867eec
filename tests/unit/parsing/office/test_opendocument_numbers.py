"""Numbers of lists, clauses and headings of OpenDocument are those that the program shows."""

import re

from sourcebook.parsing.parse import parse

_ODT = "application/vnd.oasis.opendocument.text"
_NAMES = "".join(
    f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (("office", "office"), ("text", "text"), ("style", "style"), ("table", "table"))
)
_LOEXT = ' xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"'
_STYLES = """
<text:list-style style:name="Clauses">
 <text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
 <text:list-level-style-number text:level="2" style:num-format="1" text:display-levels="2"/>
 <text:list-level-style-number text:level="3" style:num-format="a" style:num-prefix="(" style:num-suffix=")"/>
 <text:list-level-style-bullet text:level="4" text:bullet-char="•"/>
</text:list-style>
<text:list-style style:name="Articles">
 <text:list-level-style-number text:level="1" style:num-format="I" text:start-value="3"
  loext:num-list-format="Art. %1%"/>
 <text:list-level-style-number text:level="2" style:num-format="i" loext:num-list-format="%1%-%2%)"/>
</text:list-style>
<text:outline-style style:name="Outline">
 <text:outline-level-style text:level="1" style:num-format="1"/>
 <text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>
</text:outline-style>
<style:style style:name="Item" style:family="paragraph" style:list-style-name="Clauses"/>
<style:style style:name="High" style:family="text">
 <style:text-properties style:text-position="super 58%"/></style:style>
<style:style style:name="Deep" style:family="text"><style:text-properties style:text-position="-33% 58%"/></style:style>
"""


def _read(body: str) -> str:
    text = (
        f'<?xml version="1.0"?><office:document{_NAMES}{_LOEXT} office:mimetype="{_ODT}" office:version="1.2">'
        f"<office:styles>{_STYLES}</office:styles><office:body><office:text>{body}</office:text></office:body>"
        "</office:document>"
    )
    return parse(text.encode(), name="a.fodt", media_type=_ODT).markdown.strip()


def _list(*items: str, attributes: str = "") -> str:
    return (
        f"<text:list {attributes}>{''.join(f'<text:list-item>{item}</text:list-item>' for item in items)}</text:list>"
    )


def _p(text: str) -> str:
    return f"<text:p>{text}</text:p>"


def test_clauses_have_their_numbers() -> None:
    """Numbers of several levels, letters in brackets and bullets are those of the style, and go on behind a text."""
    inner = _list(_p("to the owner;") + _list(_p("by letter")), _p("to the insurer."))
    first = _list(
        _p("Hire") + _list(_p("It begins at noon."), _p("It ends at sunset.")),
        _p("Duties") + _list(_p("Damage is told:") + inner),
        attributes='text:style-name="Clauses" xml:id="a"',
    )
    more = _list(_list(_p("The toll is paid.")), attributes='text:style-name="Clauses" text:continue-numbering="true"')
    last = _list(_p("End"), attributes='text:style-name="Clauses" text:continue-list="a"')

    assert _read(f"{first}{_p('A remark.')}{more}{_p('Another.')}{last}") == (
        "1. Hire\n    - 1.1 It begins at noon.\n    - 1.2 It ends at sunset.\n"
        "2. Duties\n    - 2.1 Damage is told:\n        - (a) to the owner;\n            - by letter\n"
        "        - (b) to the insurer.\n\nA remark.\n\n- 2.2 The toll is paid.\n\nAnother.\n\n3. End"
    )


def test_formats_starts_and_items_without_numbers() -> None:
    """Words around a number, the first number, one that an item states, and a header of a list are kept."""
    held = _list(_p("Scope") + _list(_p("ships")), attributes='text:style-name="Articles"')
    stated = '<text:list-item text:start-value="9"><text:p>Fines</text:p></text:list-item>'
    header = "<text:list-header><text:p>without one</text:p></text:list-header>"
    held = held.replace("</text:list>", f"{stated}{header}</text:list>").replace(
        f"{stated}{header}</text:list></text:list-item>", "</text:list></text:list-item>", 1
    )

    assert _read(held) == "- Art. III Scope\n    - III-i) ships\n- Art. IX Fines\n- without one"


def test_lists_by_paragraph_style_and_numbered_paragraphs() -> None:
    """A list may have its numbers from the style of its paragraphs, and a paragraph may be numbered by itself."""
    by_style = _list('<text:p text:style-name="Item">one</text:p>', '<text:p text:style-name="Item">two</text:p>')
    alone = "".join(
        f'<text:numbered-paragraph text:list-id="n" text:level="1" text:style-name="Articles">{_p(text)}'
        "</text:numbered-paragraph>"
        for text in ("three", "four")
    )

    assert _read(f"{by_style}{alone}") == "1. one\n2. two\n\nArt. III three\n\nArt. IV four"


def test_headings_have_the_numbers_of_the_outline() -> None:
    """A numbered heading begins with its number; one that is no part of the outline has none."""
    headings = "".join(
        f'<text:h text:outline-level="{level}"{more}>{text}</text:h>'
        for level, more, text in (
            (1, "", "Weir"),
            (2, "", "Costs"),
            (2, ' text:is-list-header="true"', "Aside"),
            (2, "", "Tar"),
        )
    )

    assert _read(headings) == "## 1 Weir\n\n### 1.1 Costs\n\n### Aside\n\n### 1.2 Tar"


def test_numbers_in_cells_and_notes_are_text() -> None:
    """In a cell of a table the number stands before the words of its item."""
    cell = "<table:table-cell>{}</table:table-cell>"
    row = f"<table:table-row>{cell.format(_p('Duty'))}{cell.format(_list(_p('oil'), _p('tar'), attributes=_CLAUSES))}"
    table = f'<table:table><table:table-column table:number-columns-repeated="2"/>{row}</table:table-row></table:table>'

    written = _read(table)

    assert "1. oil 2. tar" in written
    assert "\ue020" not in written


_CLAUSES = 'text:style-name="Clauses"'


def test_raised_and_lowered_words() -> None:
    """An exponent, an index and the mark of a note keep their meaning."""
    text = "10<sup>6</sup> t of CO<sub>2</sub> in 1815<sup>3</sup>, 5<sup>1</sup>/<sub>2</sub> m<sup>2</sup>"
    body = re.sub("</su[bp]>", "</text:span>", text)
    for tag, style in (("sup", "High"), ("sub", "Deep")):
        body = body.replace(f"<{tag}>", f'<text:span text:style-name="{style}">')

    assert _read(_p(body)) == "10^6 t of CO2 in 1815[3], 5 1/2 m^2"
