"""A rule of markdown-it for paragraphs of one line, which are most of the text of converted pages.

markdown-it asks ten rules whether a line begins something else before it takes the line for a paragraph.
"""

import re
from typing import Final

from markdown_it.rules_block import StateBlock

_BEGINS_PARAGRAPH: Final = re.compile(r"[^\W\d_]|\*{1,2}\w|`[^`\n]|\[(?![^\n]*\]:)")
"""Beginnings of a line that is no list item, rule, fence or definition of a link's target."""


def single_line(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Take a line for a paragraph where its first characters and an empty line after it say so."""
    after = start + 1
    if silent or (after < state.lineMax and not state.isEmpty(after)) or state.is_code_block(start):
        return False
    if _BEGINS_PARAGRAPH.match(state.src, state.bMarks[start] + state.tShift[start]) is None:
        return False
    state.line = after
    span = [start, after]
    state.push("paragraph_open", "p", 1).map = span
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start, after, state.blkIndent, False).strip()
    inline.map = list(span)
    inline.children = []
    state.push("paragraph_close", "p", -1)
    return True
