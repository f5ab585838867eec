"""Longer queries while somebody types, from the results that are shown: no word of a hidden document is among them."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from sourcebook.contract.search_results import SearchResult

_LAST: Final = re.compile(r"[^\W_]{2,}$")
_WORD: Final = re.compile(r"[^\W\d_]{3,30}")
_MOST: Final = 4


def completions(query: str, results: Iterable[SearchResult]) -> list[str]:
    """Return the query with its last word completed by words of the results, those of most results first."""
    begun = _LAST.search(query)
    if begun is None:
        return []
    typed, counted = begun[0].casefold(), Counter[str]()
    for hit in results:
        said = " ".join((hit.title or "", *hit.heading_path, hit.text)).casefold()
        counted.update({word for word in _WORD.findall(said) if word.startswith(typed) and word != typed})
    words = sorted(counted, key=lambda word: (-counted[word], len(word), word))
    return [query[: begun.start()] + word for word in words[:_MOST]]
