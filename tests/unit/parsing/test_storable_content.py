"""The border of the readers: no field of what they return holds what cannot be stored."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import pytest

from sourcebook.config.html_part import HtmlPart
from sourcebook.model.document import Block, ParsedDocument
from sourcebook.parsing.html.cleaner import CleanedPage
from sourcebook.parsing.parse import parse
from sourcebook.parsing.storable_content import LONGEST_TITLE, REPLACED, storable_content
from sourcebook.web.cleaners import clean_fetched_page

HOSTILE = "x\0y\ud800z"
BLOCK = Block("heading", 0, 5, 1, HOSTILE, anchor=HOSTILE)


@pytest.mark.parametrize(
    "content",
    [
        ParsedDocument(HOSTILE, (BLOCK,), HOSTILE, 1, HOSTILE, {HOSTILE: [HOSTILE, float("nan")]}),
        CleanedPage(HOSTILE, (BLOCK,), HOSTILE, (), language=HOSTILE, metadata={HOSTILE: HOSTILE}),
    ],
    ids=lambda content: type(content).__name__,
)
def test_every_text_can_be_stored_and_the_document_says_so(content: ParsedDocument | CleanedPage) -> None:
    stored = storable_content(content)
    json.dumps(_plain(stored), allow_nan=False, ensure_ascii=False).encode()
    assert "\0" not in repr(stored)
    assert stored.markdown == "x\ufffdy\ufffdz"
    assert stored.metadata[REPLACED] == 8
    assert [(block.start, block.end) for block in stored.blocks] == [(0, 5)]


def test_what_can_be_stored_is_left_as_it_is() -> None:
    content = ParsedDocument("# A\n", (Block("heading", 0, 3, 1, "A"),), "A")
    assert storable_content(content) is content


def test_a_title_is_cut_where_it_is_none() -> None:
    long = "word " * 1_000
    stored = storable_content(ParsedDocument(long, (Block("heading", 0, 9, 1, long),), long))
    assert stored.markdown == long
    assert stored.title is not None
    assert len(stored.title) == len(stored.blocks[0].title) == LONGEST_TITLE
    assert stored.title.endswith("…")


def test_files_and_pages_come_through_it() -> None:
    rich_text = rb"{\rtf1\ansi \trowd\cellx1000 \u0 ?Lower\cell\row\pard x\par}"
    document = parse(rich_text, name="a.rtf", media_type="application/rtf")
    assert "\ufffdLower" in document.markdown
    assert document.metadata[REPLACED] == 1
    keep: HtmlPart = "main"
    page = clean_fetched_page(b"<title>a&#0;b</title><p>Text &#xD800;", "https://example.org/", "text/html", keep, {})
    json.dumps(_plain(page), ensure_ascii=False).encode()


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(held) for name, held in value.items()}
    return [_plain(held) for held in value] if isinstance(value, tuple | list) else value
