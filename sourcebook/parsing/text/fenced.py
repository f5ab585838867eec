"""Code and data stay as written, inside one Markdown fence, with blocks cut at their structure."""

import re
from collections.abc import Callable, Iterable, Iterator

from sourcebook.model.document import Block, BlockKind, ParsedDocument
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.spans import trimmed

Cut = tuple[int, str]
"""Where a block begins, and its title ("" where it has none)."""

_BACKTICKS = re.compile("`{3,}")


def parse_fenced(
    content: bytes,
    *,
    language: str,
    kind: BlockKind,
    cuts: Callable[[str], Iterable[Cut]],
) -> ParsedDocument:
    """Wrap a file's text in a fence that names its language; `cuts` says where its blocks begin."""
    decoded = decode(content)
    text = decoded.text
    if not text.strip():
        return ParsedDocument(markdown="", blocks=(), metadata={"encoding": decoded.encoding})
    fence = "`" * max(3, 1 + max((len(run[0]) for run in _BACKTICKS.finditer(text)), default=0))
    opening = f"{fence}{language}\n"
    ending = fence if text.endswith("\n") else f"\n{fence}"
    return ParsedDocument(
        markdown=f"{opening}{text}{ending}\n",
        blocks=tuple(_blocks(text, cuts(text), kind, offset=len(opening))),
        metadata={"encoding": decoded.encoding},
    )


def _blocks(text: str, cuts: Iterable[Cut], kind: BlockKind, *, offset: int) -> Iterator[Block]:
    start, title = 0, ""
    for position, next_title in [*cuts, (len(text), "")]:
        if position > start:
            begin, end = trimmed(text, start, position)
            while begin > start and text[begin - 1] in " \t":
                begin -= 1
            if begin < end:
                yield Block(kind, offset + begin, offset + end, title=title)
            start = position
        title = next_title
