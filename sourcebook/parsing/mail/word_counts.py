"""Words of a text, counted alike in every language: in Chinese, Japanese and Korean each letter is one."""

import re
from collections import Counter
from unicodedata import normalize

from sourcebook.parsing.pdf.layout.words.east_asian import EAST_ASIAN

_ADDRESS = re.compile(r"(?:https?://|mailto:|www\.|cid:)[^\s<>\]]*", re.IGNORECASE)
_WORD = re.compile(rf"{EAST_ASIAN.pattern}|[^\W_]+?(?={EAST_ASIAN.pattern}|[\W_]|\Z)")


def word_counts(text: str) -> Counter[str]:
    """Return how often each word stands in a text, in one case and one form; addresses of pages are no words."""
    return Counter(_WORD.findall(normalize("NFKC", _ADDRESS.sub(" ", text)).casefold()))
