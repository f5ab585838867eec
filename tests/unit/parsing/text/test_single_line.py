"""The rule for paragraphs of one line: it makes the tokens that markdown-it makes, and spares the other rules."""

from random import Random

import pytest
from markdown_it import MarkdownIt

from sourcebook.parsing.text.single_line import single_line

_LINES = (
    "a b", "- x", "  y", "", "", "> q", "```", "~~~", "    code", "1. one", "2) z", "***", "*", "**", "*x*", "**b** c",
    "`c` d", "`", "_a_", "[a]: /u", "[a](b)", "[x] y]: ", "<pre>", "</pre>", "<!-- x", "-->", "| a | b |", "| - | - |",
    "# h", "===", "---", "\tt", "  - n", "word:", " [a]: b", "* *",
)  # fmt: skip


def _parsers() -> tuple[MarkdownIt, MarkdownIt]:
    usual, quick = (MarkdownIt("commonmark").enable("table") for _ in range(2))
    quick.block.ruler.before("table", "single_line", single_line)
    return usual, quick


@pytest.mark.parametrize("seed", range(20))
def test_the_tokens_are_those_of_markdown_it(seed: int) -> None:
    random = Random(seed)
    usual, quick = _parsers()
    for _ in range(100):
        text = "\n".join(random.choices(_LINES, k=random.randint(1, 12)))
        assert [token.as_dict() for token in quick.parse(text)] == [token.as_dict() for token in usual.parse(text)]


def test_paragraphs_of_one_line_ask_no_other_rule() -> None:
    """Neither at the top nor within a loose list; the last line of each is a paragraph like the others."""
    _, quick = _parsers()
    quick.block.ruler.disable("paragraph")
    text = "Ducks swim.\n\n**Geese** fly.\n\n- `quack` says a duck.\n\n- [Ponds](/ponds) are wet.\n\nThe end."
    paragraphs = [token for token in quick.parse(text) if token.type == "paragraph_open"]
    assert [token.map for token in paragraphs] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
