"""Prose in documents that are monospaced throughout, such as RFCs and printed text files."""

import re
from collections.abc import Iterable, Sequence

from sourcebook.parsing.pdf.layout.measures import NEAR
from sourcebook.parsing.pdf.layout.page_parts import Line

_LEAST = 0.8
"""Share of a document's letters above which it is monospaced throughout [library]."""
_LEAST_LETTERS = 0.85
"""Share of letters among the signs of prose, white space and punctuation of sentences aside [library]."""
_WIDE = re.compile(r"\S {3,}\S")
_PUNCTUATION = re.compile(r"[\s.,;:!?'\"()-]")
_SECTION = re.compile(r"(?:\d{1,2}\.)+\d{0,2}\s+[^\W\d_]|[A-Z]\.(?:\d{1,2}\.?)*\s+[^\W\d_]")
_LONGEST_TITLE = 60
"""Most characters of a section's title [library]."""


def is_monospaced_throughout(lines: Iterable[Line]) -> bool:
    """Tell whether nearly all of a document is in fonts of one width."""
    monospaced = letters = 0
    for line in lines:
        letters += len(line.text)
        monospaced += len(line.text) if line.monospaced else 0
    return monospaced > _LEAST * letters


def is_prose(lines: Sequence[Line]) -> bool:
    """Tell whether monospaced lines are words in sentences or titles, and neither code nor a drawing."""
    texts = [line.text for line in lines]
    signs = _PUNCTUATION.sub("", "".join(texts))
    letters = sum(map(str.isalpha, signs))
    return bool(signs) and letters >= _LEAST_LETTERS * len(signs) and not any(map(_WIDE.search, texts))


def is_numbered_title(lines: Sequence[Line], margin: float) -> bool:
    """Tell whether a line alone is the title of a numbered section at the left margin."""
    line = lines[0]
    at_margin = len(lines) == 1 and abs(line.left - margin) < NEAR
    short = len(line.text) <= _LONGEST_TITLE and not line.text.endswith((".", ",", ";", ":"))
    return at_margin and short and _SECTION.match(line.text) is not None
