"""Links, autolinks and inline code stay whole in passages, unless one alone is longer than a passage."""

import re
from collections.abc import Sequence
from random import Random

import pytest

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.chunker import chunk_document
from sourcebook.chunking.cut_points import inline_pieces
from sourcebook.parsing.text.markdown import parse_markdown
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer
from tests.unit.chunking.promises import assert_promises

ADDRESS = "https://docs.example.org/3/library/asyncio-event-loop.html#asyncio.loop.run_in_executor"
PIECE = re.compile(r"!?\[[^\[\]]*\]\([^()]*(?:\([^()]*\))?[^()]*\)|<https:[^>]*>|`[^`]*`")
"""Simple pieces, such as the documents of this module hold."""


def chunks(markdown: str, *, tokens: int = 64, overlap: int = 0) -> list[Chunk]:
    document = parse_markdown(markdown.encode())
    found = chunk_document(document, title=None, tokens=tokens, overlap=overlap, tokenizer=bundled_tokenizer())
    assert_promises(document, found, tokens=tokens)
    return found


def parted(markdown: str, passages: Sequence[Chunk]) -> list[str]:
    """Return the pieces in which a passage begins or ends."""
    text = parse_markdown(markdown.encode()).markdown
    cuts = {cut for passage in passages for cut in (passage.start_char, passage.end_char)}
    return [match[0] for match in PIECE.finditer(text) if any(match.start() < cut < match.end() for cut in cuts)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("See [the *loop*](a.html#b 'A title') now", ["[the *loop*](a.html#b 'A title')"]),
        (r"[\[1\]](#id1)[2](<a b.html>),", [r"[\[1\]](#id1)", "[2](<a b.html>)"]),
        ("[![Badge](b.svg)](https://ci.example)", ["[![Badge](b.svg)](https://ci.example)"]),
        (
            "[Set (mathematics)](https://w.example/Set_(mathematics)) is",
            ["[Set (mathematics)](https://w.example/Set_(mathematics))"],
        ),
        ("a <https://e.example/x> b < c > d", ["<https://e.example/x>"]),
        ("``a ` b`` and `c d`, a ` stray one", ["``a ` b``", "`c d`"]),
        ("[`a ] b`](c.html)", ["[`a ] b`](c.html)"]),
        ("the rest](a.html) of a link", ["](a.html)"]),
        (r"no \[link](", []),
        ("[two\nlines](a.html), [two\n\nparagraphs](b.html)", ["[two\nlines](a.html)", "](b.html)"]),
        ("- an [open\n- and `one\n- more` ](c", []),
    ],
)
def test_pieces(text: str, pieces: list[str]) -> None:
    assert [text[piece.start : piece.end] for piece in inline_pieces(text, "paragraph", 0, len(text))] == pieces


@pytest.mark.parametrize("kind", ["code", "data", "speech"])
def test_code_has_no_pieces(kind: str) -> None:
    text = "[a](b) `c d` <https://e.example>"
    assert not inline_pieces(text, kind, 0, len(text))  # type: ignore[arg-type]


@pytest.mark.parametrize("between", ["", ",", "|", "(", "; "])
@pytest.mark.parametrize(
    "link", [f"[{{}}]({ADDRESS}{{}})", f"<{ADDRESS}{{}}>", f"![Image {{}}]({ADDRESS}{{}} 'A title of it')"]
)
def test_addresses_in_lines_without_spaces_stay_whole(link: str, between: str) -> None:
    """Such as the links back from a footnote."""
    markdown = between.join(link.replace("{}", str(number)) for number in range(40))
    passages = chunks(markdown)
    assert len(passages) > 10
    assert not parted(markdown, passages)


@pytest.mark.parametrize("overlap", [0, 16])
def test_pieces_among_words_stay_whole(overlap: int) -> None:
    """In paragraphs, lists and cells, before and behind words, with and without overlap."""
    random = Random(14)
    pieces = (
        f"[the loop that runs all of it]({ADDRESS} 'Run an event. Or two.')",
        f"<{ADDRESS}>",
        "`SELECT a, b FROM c WHERE d`",
    )
    words = ("passage. ", "cut, ", "a ", "(", ") ", "index ", "\n", "wholeword", "表は。")
    lines = []
    for number in range(60):
        line = "".join(random.choice((*words, *words, *pieces)) for _ in range(random.randrange(4, 60)))
        mark = ("", "- ", "| a | ")[number % 3]
        lines.append(mark + (line.replace("\n", " ") if mark else line) + (" |\n" if number % 3 == 2 else ""))
    markdown = "\n\n".join(lines)
    assert not parted(markdown, chunks(markdown, tokens=96, overlap=overlap))


def test_a_link_longer_than_a_passage_is_cut_in_its_text_before_its_address() -> None:
    markdown = f"See [{'a very long text of a link ' * 20}]({ADDRESS}) and more."
    passages = chunks(markdown)
    assert len(passages) > 2
    assert sum(ADDRESS in passage.text for passage in passages) == 1


def test_an_address_longer_than_a_passage_is_cut_anywhere() -> None:
    markdown = f"See [it](https://a.example/{'x/y-z' * 200}) and more words."
    passages = chunks(markdown)
    assert passages[0].text == "See"
    assert passages[-1].text.endswith("more words.")


def test_a_link_leaves_its_lead_in_where_both_do_not_fit() -> None:
    address = "/".join(f"part{number}" for number in range(13))
    markdown = f"{'All of it is said on these many pages ' * 2}here:\n\n- [a](https://e.example/{address})\n- b\n"
    assert not parted(markdown, chunks(markdown))


def test_code_within_an_item_is_cut_between_lines() -> None:
    code = "\n".join(f"  >>> [option for option in parser['section{number}']]" for number in range(40))
    passages = chunks(f"- An item with code:\n\n  ```\n{code}\n  ```\n- another\n")
    assert len(passages) > 4
    assert all(passage.text.rstrip().endswith("]]") for passage in passages[1:-1])
