"""Blocks written as Markdown."""

from itertools import pairwise

from markdown_it import MarkdownIt

from sourcebook.parsing.text.markdown_writing import Piece, write_pieces


def test_a_paragraph_that_begins_with_a_number_sign_is_no_heading() -> None:
    """A manual of the shell explains `#` and shows comments, which no reader of Markdown may take for headings."""
    written = write_pieces(
        [
            Piece("heading", "## Special parameters"),
            Piece("paragraph", "# ($#) Expands to the number of parameters.\n## and more"),
            Piece("list", "- # a comment\n  1. ## another\n- #1 of them"),
            Piece("code", "```\n# code\n```"),
        ]
    )
    tokens = MarkdownIt("commonmark").parse(written.markdown)
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    assert headings == ["Special parameters"]
    assert [written.markdown[block.start : block.end] for block in written.blocks] == [
        "## Special parameters",
        "\\# ($#) Expands to the number of parameters.\n\\## and more",
        "- \\# a comment\n  1. \\## another\n- #1 of them",
        "```\n# code\n```",
    ]
