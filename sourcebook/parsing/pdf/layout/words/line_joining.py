"""Text of a paragraph's lines, with words joined that were divided at the end of a line."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from sourcebook.parsing.pdf.layout.page_parts import Line

_SOFT_HYPHEN = "\u00ad"
_HYPHENS = ("-", "\u2010")
_LETTER = re.compile(r"[^\W\d_]")
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
"""Letters and marks of Chinese and Japanese, which have no spaces between words."""
_SELF_ALONE = re.compile(r"(?:ish|less|hood|same|ie|s?$)")
_FIRST_WORD = re.compile(r"[^\W\d_][\w-]*")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)+")


def joined_text(lines: Sequence[Line], hyphenated: AbstractSet[str] = frozenset()) -> str:
    """Return the lines as one text.

    Args:
        lines: lines in reading order.
        hyphenated: words that the document also writes with a hyphen within a line; they keep their hyphen.
    """
    parts: list[str] = []
    last = ""  # each line is compared with it alone, so that a paragraph of many lines takes no longer for each
    for line in lines:
        cut, space = _joint(last, line.text, hyphenated) if last or parts else (False, "")
        if space:
            parts.append(last)
            last = line.text
        else:
            last = (last[:-1] if cut else last) + line.text
    end = "-" if last.endswith(_SOFT_HYPHEN) else ""  # a word that goes on in another column, or on another page
    return " ".join([*parts, last]).replace(_SOFT_HYPHEN, "") + end


def joined_pair(text: str, following: str, hyphenated: AbstractSet[str] = frozenset()) -> str:
    """Return `text` joined with the text of the next line."""
    cut, space = _joint(text, following, hyphenated)
    return f"{text[:-1] if cut else text}{space}{following}"


def _joint(text: str, following: str, hyphenated: AbstractSet[str]) -> tuple[bool, str]:
    """Return whether the last letter of a text is left out before the next line, and the space between them."""
    if text.endswith(_SOFT_HYPHEN):
        return True, ""
    divided = _divided_word(text)
    first = _FIRST_WORD.match(following) if divided else None
    if first is not None:
        if f"{divided}-{first[0]}".lower() in hyphenated or _is_self(divided, first[0]):
            return False, ""
        if following[0].islower():
            return True, ""
    is_unspaced = _UNSPACED.match(text[-1:]) and _UNSPACED.match(following[:1])
    return False, "" if is_unspaced else " "


def _is_self(divided: str, rest: str) -> bool:
    """Tell whether a word is one of English's with `self-`; of those without a hyphen there are few."""
    return divided.lower() == "self" and _SELF_ALONE.match(rest) is None


def is_divided(text: str, following: str) -> bool:
    """Tell whether a word is divided between two lines: a hyphen at the end of one, a small letter after it."""
    return following[:1].islower() and (text.endswith(_SOFT_HYPHEN) or _divided_word(text) != "")


def _divided_word(text: str) -> str:
    """Return the part of a word before the hyphen at the end of a text, or nothing where no word is divided."""
    if not text.endswith(_HYPHENS) or _LETTER.match(text[-2:-1]) is None:
        return ""
    start = end = len(text) - 1
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:end]


def hyphenated_words(lines: Sequence[Line]) -> AbstractSet[str]:
    """Return the words with a hyphen within a line, in lower case."""
    return {
        word.lower().replace("\u2010", "-")
        for line in lines
        if any(hyphen in line.text for hyphen in _HYPHENS)
        for word in _HYPHENATED.findall(line.text)
    }
