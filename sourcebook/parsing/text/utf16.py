"""UTF-16 without a byte order mark, in scripts that leave few NUL bytes: Greek, Cyrillic, Chinese and others."""

import unicodedata
from typing import Final

_FEWEST: Final = 12
"""Characters from which on a text is taken for UTF-16."""
_MOST_LOOKED_AT: Final = 2048
_LEAST_TEXT: Final = 0.98
"""Share of letters, digits, punctuation and white space."""
_LEAST_OF_SCRIPT: Final = 0.95
"""Share of the characters that are in ASCII or in one block, as the letters of one language are."""
_FEWEST_SPACES: Final = 80
"""Characters per space, line or punctuation mark of ASCII or of East Asia at most."""
_MARKS: Final = frozenset(" \n\t\u3000\u3001\u3002\uff0c\uff01\uff1f")
_EAST_ASIAN: Final = ((0x3000, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7AF), (0xFF00, 0xFFEF))


def utf16_encoding(head: bytes) -> str | None:
    """Return "utf-16-le" or "utf-16-be" where a text can be nothing else, else None."""
    if not head.count(0):
        return None
    head = head[: len(head) // 2 * 2][: 2 * _MOST_LOOKED_AT]
    return next((name for name in ("utf-16-le", "utf-16-be") if _is_text(head, name)), None)


def _is_text(head: bytes, encoding: str) -> bool:
    try:
        text = head.decode(encoding)
    except UnicodeDecodeError:  # of half a surrogate at the end, too: such a text is longer than what is looked at
        return False
    if len(text) < _FEWEST or "\0" in text or sum(map(text.count, _MARKS)) * _FEWEST_SPACES < len(text):
        return False
    shown = sum(unicodedata.category(letter)[0] in "LMNPZS" or letter in "\r\n\t" for letter in text)
    if shown < _LEAST_TEXT * len(text):
        return False
    beyond = [ord(letter) for letter in text if letter > "\x7f"]
    blocks = [code >> 8 for code in beyond]
    alphabet = max(map(blocks.count, set(blocks)), default=0) if len(set(blocks)) < len(blocks) else 0
    east = sum(any(first <= code <= last for first, last in _EAST_ASIAN) for code in beyond)
    return max(alphabet, east) + len(text) - len(beyond) >= _LEAST_OF_SCRIPT * len(text)
