"""Words of a text, counted alike in every language: in Chinese, Japanese and Korean each letter is one."""

import re
from collections import Counter
from unicodedata import normalize

from sourcebook.parsing.text.east_asian import EAST_ASIAN

_ADDRESS = re.compile(r"(?:https?://|mailto:|www\.|cid:)[^\s<>\]]*", re.IGNORECASE)
_WORD = re.compile(rf"{EAST_ASIAN.pattern}|[^\W_{EAST_ASIAN.pattern[1:-1]}]+")
_PLAIN_WORD = re.compile("[a-z0-9]+")


def word_counts(text: str) -> Counter[str]:
    """Return how often each word stands in a text, in one case and one form; addresses of pages are no words."""
    if any(sign in text.lower() for sign in ("://", "www.", "mailto:", "cid:")):
        text = _ADDRESS.sub(" ", text)
    return Counter(
        _PLAIN_WORD.findall(text.lower()) if text.isascii() else _WORD.findall(normalize("NFKC", text).casefold())
    )
