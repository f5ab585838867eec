"""Texts that are no titles, however they are set: formulas, commands, parts of a sentence or of a diagram."""

import re
from collections.abc import Sequence

from sourcebook.parsing.pdf.layout.lines.text_style import TextStyle
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.text.east_asian import is_east_asian

_OPERATOR = re.compile(r"[=<>\u2190-\u22ff\u2a00-\u2aff±×÷∝]")
"""Signs of formulas."""
_LETTER_OF_FORMULA = re.compile(r"[\U0001d400-\U0001d7ff]")
"""Letters and digits that are only in formulas."""
_WORD = re.compile(r"[^\W\d_\U0001d400-\U0001d7ff]{3,}")
_SIGN = re.compile(r"(?!\(\w{1,4}\)\s)[\\(){}\[\]<>\u2329\u232a\u27e8\u27e9\u3008\u3009+=,;|*/&%$@^~_\u2660-\u2667-]")
"""Sign with which formulas, commands and patterns begin, and no title; `(2) Oil` begins with a number."""
_EQUATION = re.compile(r"\S+ = \S")
"""Single word or letter and what it is equal to."""
_ALPHABET = re.compile(r"\S{1,2}(?: \S{1,2}){11,}")
"""Letters one by one, as samples of a font show them."""
_IN_BRACKETS = re.compile(r"（[^（）]*）|〈[^〈〉]*〉")
"""Text in brackets of Chinese and Japanese, a label of a picture or a remark."""
_COMMAND = re.compile(r"\s--?\w|[{}\\<>|=]|\w[._]\w")
"""Options, redirections and names of files, as in commands."""
_NARROWEST = 0.2
"""Smallest mean width of a letter, in font sizes; narrower ones are a picture or a glyph's name [library]."""
_LONGEST_WORD = 39
"""Most letters of a word; a string of more is a sample of letters [0079]."""
_SMALLEST = 0.72
"""Smallest size of a heading, in font sizes of the running text; smaller ones are labels of a diagram [library]."""


def is_no_title(lines: Sequence[Line], text: str, style: TextStyle) -> bool:
    """Tell whether a text without a section's number is no title by its signs, its letters or its size.

    Args:
        lines: lines of the text.
        text: the whole text.
        style: style of the running text.
    """
    if _SIGN.match(text) or _IN_BRACKETS.fullmatch(text) or is_formula(text) or not _is_balanced(text) or "©" in text:
        return True
    if _EQUATION.match(text) or _ALPHABET.fullmatch(text):
        return True
    if text[0].islower() and _COMMAND.search(text):
        return True
    first = lines[0]
    narrow = first.width < _NARROWEST * first.size * len(first.text)
    if not is_east_asian(text) and max(map(len, text.split()), default=0) > _LONGEST_WORD:
        return True
    return narrow or first.size < _SMALLEST * max(style.size, style.elsewhere)


def is_formula(text: str) -> bool:
    """Tell whether a text has a sign or letter of formulas, and less than half of its letters in words."""
    if _OPERATOR.search(text) is None and _LETTER_OF_FORMULA.search(text) is None:
        return False
    return 2 * sum(map(len, _WORD.findall(text))) < sum(map(str.isalnum, text))


def _is_balanced(text: str) -> bool:
    """Tell whether a text closes as many round brackets as it opens; a part of a sentence or a formula may not."""
    return text.count("(") == text.count(")")
