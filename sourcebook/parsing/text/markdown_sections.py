"""Cut very long Markdown where the cut changes nothing, so that memory stays bounded."""

import re
from collections.abc import Iterator

_SECTION = 1_000_000
"""Characters; markdown-it keeps about 400 bytes a line while it parses."""
_LANDMARK = re.compile(
    r"^[ ]{0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})|^(?P<heading>\#{1,6}[ \t])|^(?P<blank>[ \t]*\n)",
    re.MULTILINE,
)


def sections(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield spans that cover `text[start:]`, cut before a heading or, failing that, at a blank line.

    Fenced code is never cut. Text without any such place stays one span.
    """
    begin, last_blank = start, 0
    fence = ""
    if len(text) - start > _SECTION:
        for landmark in _LANDMARK.finditer(text, start):
            mark = landmark["fence"]
            if mark is not None:
                if not fence:
                    fence = mark
                elif mark[0] == fence[0] and len(mark) >= len(fence):
                    fence = ""
            elif fence:
                continue
            elif landmark["heading"] is not None:
                if landmark.start() - begin >= _SECTION // 2:
                    yield begin, landmark.start()
                    begin, last_blank = landmark.start(), 0
            else:
                last_blank = landmark.end()
                if last_blank - begin >= _SECTION:
                    yield begin, last_blank
                    begin, last_blank = last_blank, 0
    if begin < len(text):
        yield begin, len(text)
