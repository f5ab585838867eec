"""Blocks that need no parser: they are those of markdown-it, and most blocks of a converted page are among them."""

from collections.abc import Iterator
from random import Random

import pytest
from markdown_it import MarkdownIt

from sourcebook.model.document import Block
from sourcebook.parsing.text import markdown
from sourcebook.parsing.text.plain_blocks import plain_block
from sourcebook.parsing.text.spans import cover

_LINES = (
    "a b", "- x", "  y", "", "", "", "> q", "```", "~~~", "    code", "1. one", "2) z", "***", "*", "**", "*x*",
    "**b** c", "`c` d", "`", "_a_", "[a]: /u", "[a](b)", "[x] y]: ", "<pre>", "</pre>", "<!-- x", "-->", "| a | b |",
    "| - | - |", "| c |", "| a \\| b |", "| --- |", "# h", "## h #", "### `x` *y*", "===", "---", "\tt", "  - n",
    "word:",
    " [a]: b", "* *", "- - -", "-", "10. ten", "   x", "   - z", "  ```", "   1. q", "- ```", "  > q", "````", "```py",
    " - b", "- > q", "2. > q", "1. - a", "- [a]: b", "- | a | b |", "  | - | - |", "<div>", "- <pre>", "#", "#x",
    "  ",
    "- \t", "-\tx", "1. ", "+ a", "- # h", "a  ", "\u00a0x", "# \u00a0x\u00a0", "||", "|-|", ":-|-", ":---", "a|b",
    "> ```",
    "> - a", "      deep", "1. 2. 3. x", "(x)", "…", "**-- x**", "\\<a>",
)  # fmt: skip


def _by_parser_alone(text: str) -> Iterator[Block]:
    return cover(text, markdown._parsed_blocks(text, 0, len(text)), start=0, end=len(text))


@pytest.mark.parametrize("seed", range(20))
def test_the_blocks_are_those_of_markdown_it(seed: int) -> None:
    random = Random(seed)
    for _ in range(100):
        few = random.sample(_LINES, 8)
        text = "\n".join(random.choices(few, k=random.randint(1, 14)))
        assert list(markdown.markdown_blocks(text)) == list(_by_parser_alone(text)), text


def test_the_blocks_of_a_converted_page_need_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the parser is asked")

    monkeypatch.setattr(MarkdownIt, "parse", fail)
    text = (
        "# Ducks\n\nThey swim.  \nThey fly.\n\n> A quotation.\n>\n> Its end.\n\n- One\n\n  its second paragraph\n"
        "- Two\n  - a part\n\nMore:\n\n1. First\n\n   ```\n   code\n   ```\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```text\n\n# no heading\n"
        "```\n\n**--option**\n> Its meaning.\n"
    )
    assert [block.kind for block in markdown.markdown_blocks(text)] == [
        "heading", "paragraph", "quote", "list", "paragraph", "list", "table", "code", "paragraph", "quote",
    ]  # fmt: skip


def test_a_table_whose_rows_have_other_columns_than_its_rule_is_left_to_the_parser() -> None:
    assert plain_block("| a | b |\n| --- |\n", 0, 18) is None
    assert plain_block("| a | b \\|\n| --- |\n", 0, 19) is None
