"""Blocks without a parser: they are those of markdown-it, or none are given."""

from random import Random

import pytest
from markdown_it import MarkdownIt

from sourcebook.model.document import Block
from sourcebook.parsing.text.markdown import markdown_blocks
from sourcebook.parsing.text.plain_blocks import PlainBlock, plain_blocks

_LINES = (
    "a b", "- x", "  y", "> q", "```", "~~~", "    code", "1. one", "2) z", "2. two", "10. ten", "***", "*", "**",
    "*x*", "**b** c", "`c` d", "``x``", "`", "_a_", "__", "[a]: /u", "[a](b)", "[x] y]: ", "[a", "b]: /u", "<pre>",
    "</div>", "<!-- x", "-->", "<https://a>", "| a | b |", "| - | - |", "|--|", "|a|", "| a \\| b | c |",
    "|:-:|-:|", "- a | b", "  --- | ---", "a | b", "--- | ---", "# h", "### C#", "## a ##", "#x", "#######", "===",
    "---", "- - -", "- --", "* *", "\tt", "  - n", "   t", " u", "  ```", "- ```", "      deep", "-", "- ", "-  w",
    "+ p", "1.", "- > q", "  > r", "1. - x", "word:", " [a]: b", "3.11 is out", "1)x", "---x", "--", "~x", "=x",
    ": x", "|", "\\*", "\u00a0", "\u00a0x", "\x0c", "%", "```py|x", "> a | b", "* * x", "**a**: b  ", "&nbsp;",
)  # fmt: skip
_KINDS = {
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "quote",
}
_parser = MarkdownIt("commonmark").enable("table")


def _as_parsed(text: str) -> list[tuple[str, list[str], int, str]]:
    """Return kind, lines, level and title of each block that is not white space, as markdown-it reads them."""
    found = []
    lines = text.split("\n")
    tokens = _parser.parse(text)
    for token, following in zip(tokens, [*tokens[1:], *tokens[:1]], strict=True):
        if token.level or token.map is None or token.nesting < 0 or token.type == "inline":
            continue
        taken = _trimmed("\n".join(lines[slice(*token.map)]))
        kind = _KINDS.get(token.type, "paragraph")
        level, title = (int(token.tag[1:]), following.content) if kind == "heading" else (0, "")
        if taken:
            found.append((kind, taken, level, title))
    return found


def _trimmed(text: str) -> list[str]:
    return text.strip().split("\n") if text.strip() else []


@pytest.mark.parametrize("seed", range(10))
def test_the_blocks_are_those_of_markdown_it(seed: int) -> None:
    random = Random(seed)
    told = 0
    for _ in range(400):
        known = random.sample(_LINES, random.randint(2, 8))
        text = "\n".join("" if random.random() < 0.4 else random.choice(known) for _ in range(random.randint(1, 12)))
        blocks = plain_blocks(text)
        if blocks is None:
            continue
        told += 1
        found = [(each.kind, _trimmed(text[each.start : each.end]), each.level, each.title) for each in blocks]
        assert [each for each in found if each[1]] == _as_parsed(text), text
    assert told > 40


def test_a_converted_page_needs_no_parser() -> None:
    text = (
        "# Ducks\n\n**Geese** fly.\n\n- `quack` says a duck.\n\n  - Loudly.\n\n  ```\n  quack\n  ```\n\n- [Ponds](/p)\n"
        "\n1. One\n2. Two\n\n```text\n# no heading\n\n- no list\n```\n\n| a | b |\n| --- | --- |\n| 1 \\| 2 | 3 |\n\n"
        "> Said\n> a goose.\n\nThis was said:\n> Quack.\n\n---\n\n3.11 came  \nlater.\n"
    )
    kinds = ["heading", "paragraph", "list", "list", "code", "table", "quote", "paragraph", "quote", "paragraph"]
    assert [block.kind for block in plain_blocks(text) or ()] == [*kinds, "paragraph"]


def test_what_only_a_parser_can_tell_is_left_to_it() -> None:
    """A line that continues the paragraph of an item without its indent, raw HTML, a target of links."""
    for text in (
        "- One goose\nand a duck\n",
        "<div>\n\n# Ducks\n\n</div>\n",
        "[a\nb]: /ducks\n",
        "- Ducks\n\n - Geese\n",
    ):
        assert plain_blocks(text) is None
        assert [text[block.start : block.end] for block in markdown_blocks(text)]


def test_the_title_of_a_heading_is_its_text() -> None:
    text = "## The `duck` *pond* ##\n\nQuack.\n"
    assert plain_blocks(text) == [
        PlainBlock("heading", 0, 23, 2, "The `duck` *pond*"),
        PlainBlock("paragraph", 25, 31),
    ]
    assert next(markdown_blocks(text)) == Block("heading", 0, 23, level=2, title="The duck pond")
