"""Text of a paragraph's lines, with words joined that were divided at the end of a line."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from sourcebook.parsing.pdf.layout.page_parts import Line

_SOFT_HYPHEN = "\u00ad"
_DIVIDED = re.compile(r"(\w*[^\W\d_])[-\u2010]$")
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
"""Letters and marks of Chinese and Japanese, which have no spaces between words."""
_FIRST_WORD = re.compile(r"[^\W\d_][\w-]*")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")


def joined_text(lines: Sequence[Line], hyphenated: AbstractSet[str] = frozenset()) -> str:
    """Return the lines as one text.

    Args:
        lines: Lines in reading order.
        hyphenated: Words that the document also writes with a hyphen within a line; they keep their hyphen.
    """
    text = ""
    for line in lines:
        text = joined_pair(text, line.text, hyphenated) if text else line.text
    return text.replace(_SOFT_HYPHEN, "")


def joined_pair(text: str, following: str, hyphenated: AbstractSet[str] = frozenset()) -> str:
    """Return `text` joined with the text of the next line."""
    if text.endswith(_SOFT_HYPHEN):
        return text[:-1] + following
    divided = _DIVIDED.search(text)
    first = _FIRST_WORD.match(following)
    if divided and first:
        if f"{divided[1]}-{first[0]}".lower() in hyphenated:
            return text + following
        if following[0].islower():
            return text[:-1] + following
    if _UNSPACED.match(text[-1:]) and _UNSPACED.match(following[:1]):
        return text + following
    return f"{text} {following}"


def is_divided(text: str, following: str) -> bool:
    """Tell whether a word is divided between two lines: a hyphen at the end of one, a small letter after it."""
    return following[:1].islower() and (text.endswith(_SOFT_HYPHEN) or _DIVIDED.search(text) is not None)


def hyphenated_words(lines: Sequence[Line]) -> AbstractSet[str]:
    """Return the words with a hyphen within a line, in lower case."""
    return {word.lower() for line in lines if "-" in line.text for word in _HYPHENATED.findall(line.text)}
