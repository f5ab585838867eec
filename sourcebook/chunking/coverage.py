"""Whether passages leave anything of a document out."""

import re
from collections.abc import Iterable, Sequence

from sourcebook.chunking.pack import Span
from sourcebook.model.document import Block
from sourcebook.parsing.text.front_matter import read_front_matter

_CLOSING_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_WHITE_SPACE = re.compile(r"\s+")


def uncovered_characters(markdown: str, blocks: Sequence[Block], spans: Iterable[Span]) -> int:
    """Count the characters of a document's content that lie in no passage.

    Content is the Markdown from the first block on, whatever the blocks say of the rest, without white space and
    without the lines that close a fence.

    Args:
        markdown: The document's.
        blocks: The document's; without any, content is what follows the front matter.
        spans: `(start_char, end_char)` of each passage, in any order; they may overlap.
    """
    reached = blocks[0].start if blocks else read_front_matter(markdown).end
    missing = 0
    for start, end in [*sorted(spans), (len(markdown), len(markdown))]:
        if start > reached:
            missing += _content(markdown[reached:start])
        reached = max(reached, end)
    return missing


def _content(gap: str) -> int:
    if gap.isspace():
        return 0
    return len(_WHITE_SPACE.sub("", _CLOSING_FENCE.sub("", gap)))
