"""Notebooks are prose, code and results; the bytes of their pictures are no text."""

import json

import pytest

from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.markup.notebook import parse_notebook
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts
from tests.unit.parsing.drawn_files import code_cell, markdown_cell, notebook, water_levels


def result(**data: object) -> dict[str, object]:
    return {"output_type": "execute_result", "data": {kind.replace("_", "/"): value for kind, value in data.items()}}


def read(content: bytes) -> ParsedDocument:
    document = parse(content, name="a.ipynb", media_type=detect_media_type("a.ipynb", content[:4096]))
    assert_blocks_cover(document)
    return document


def test_cells_come_in_order_with_their_kinds() -> None:
    """Prose keeps its headings, code its language, and results follow the code that printed them."""
    document = read(water_levels())
    assert [(block.kind, block.level, block.title) for block in document.blocks] == [
        ("heading", 1, "Water levels"),
        ("paragraph", 0, ""),
        ("code", 0, ""),
        ("code", 0, ""),
        ("heading", 2, "By day"),
        ("code", 0, ""),
        ("table", 0, ""),
        ("code", 0, ""),
        ("code", 0, ""),
        ("code", 0, ""),
    ]
    assert texts(document)[1] == "Measured at the weir. gauge"
    assert texts(document)[2] == "```python\nlevels = read('weir.csv')\nprint(len(levels))\n```"
    assert texts(document)[3] == "```\nreading 100 %\n365\n```"
    assert "| Monday | 212 |" in texts(document)[6]
    assert texts(document)[9] == "```\nZeroDivisionError: division by zero\n```"
    assert document.title == "Water levels"
    assert document.metadata["author"] == "Ada Byron"
    assert document.metadata["programming_language"] == "python"


def test_pictures_are_counted_and_no_text() -> None:
    """Neither base64 nor the class and size of a figure is in the text."""
    document = read(water_levels())
    assert "iVBOR" not in document.markdown
    assert "Figure size" not in document.markdown
    assert document.metadata["left_out"] == {"pictures": 1}


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("See ![the weir](attachment:weir.png) here", "See the weir here"),
        ('a <img src="data:image/png;base64,AAAA" alt="weir"> b', 'a <img src="" alt="weir"> b'),
        ("![kept](weir.png)", "![kept](weir.png)"),
        ("data: 5 and attachment: none", "data: 5 and attachment: none"),
    ],
)
def test_prose_keeps_all_but_the_bytes_of_pictures(prose: str, expected: str) -> None:
    """Links to pictures stay as they are written."""
    assert read(notebook(markdown_cell(prose))).markdown == f"{expected}\n"


def test_an_open_fence_ends_with_its_cell() -> None:
    """A mistake in one cell's Markdown does not swallow the next cells."""
    document = read(notebook(markdown_cell("```\nopen"), markdown_cell("# After")))
    assert [(block.kind, block.title) for block in document.blocks] == [("code", ""), ("heading", "After")]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (result(text_plain="42"), "```\n42\n```"),
        (result(text_markdown="**bold**", text_plain="x"), "**bold**"),
        (result(text_html="<script>no()</script>", text_plain="kept"), "```\nkept\n```"),
        (result(application_json={"a": 1}), '```json\n{\n "a": 1\n}\n```'),
        (result(**{"application_vnd.widget": {}}), ""),
        ({"output_type": "stream", "text": "\x1b]0;title\x07done"}, "```\ndone\n```"),
    ],
)
def test_the_fullest_text_of_a_result_is_kept(output: dict[str, object], expected: str) -> None:
    """Each result is kept once, in the form that says most."""
    found = texts(read(notebook(code_cell("1", output))))[1:]
    assert "\n".join(found) == expected


def test_format_3_is_read() -> None:
    """Older notebooks have worksheets, headings as cells, and short names of types."""
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Weir"]},
        {
            "cell_type": "code",
            "language": "python",
            "input": "1 + 1",
            "outputs": [{"output_type": "pyout", "text": "2"}, {"output_type": "display_data", "png": "AAAA" * 40}],
        },
    ]
    document = read(json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}).encode())
    assert texts(document) == ["## Weir", "```\n1 + 1\n```", "```\n2\n```"]
    assert document.metadata["left_out"] == {"pictures": 1}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (water_levels()[:500], "damaged or cut off"),
        (b'{"a": 1}', "holds no cells"),
        (b"[1, 2]", "holds no cells"),
        (b'{"cells": ' + b"[" * 200_000, "nested too deeply|damaged"),
    ],
)
def test_what_is_no_notebook_fails_with_the_reason(content: bytes, words: str) -> None:
    """A reason in plain words, never one of Python's."""
    with pytest.raises(ParseError, match=words):
        read(content)


@pytest.mark.parametrize(
    "cells",
    [
        None,
        5,
        "text",
        [None, 5, {}],
        [{"cell_type": "code", "source": {}, "outputs": {"a": 1}}],
        [{"source": [1, None]}],
    ],
)
def test_odd_values_are_no_text(cells: object) -> None:
    """Values of other types than the format's give nothing, and no error."""
    assert parse_notebook(json.dumps({"cells": cells, "metadata": [1]}).encode()).markdown == ""


def test_the_kernel_may_have_any_name() -> None:
    """A name of several words or lines does not become the fence's."""
    document = read(notebook(code_cell("x"), language_info={"name": "a b\n```"}))
    assert document.markdown == "```\nx\n```\n"
