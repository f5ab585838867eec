"""The budget of an answer: what of lists and texts fits into a number of tokens."""

import json
from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel

from sourcebook.context.token_bound import LONGEST_TOKEN, token_bound

USUAL_TOKENS: Final = 4_000
"""Tokens of an answer, at most, where a request does not ask for more."""
MOST_TOKENS: Final = 20_000
FEWEST_TOKENS: Final = 500
SENTENCE_TOKENS: Final = 120
"""Tokens that are kept free for the sentence that says how to go on."""
_SEARCHED_FOR_BREAK: Final = 200
"""Characters before a cut in which a line's or a word's end is looked for."""


def as_json(value: Any) -> str:
    """Return a value as the JSON that an answer holds."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def plain(answer: BaseModel) -> dict[str, Any]:
    """Return an answer as plain values, without fields that are null."""
    return answer.model_dump(mode="json", exclude_none=True)


def tokens_of(value: Any) -> int:
    """Return an upper bound of the tokens of a value in an answer."""
    return token_bound(as_json(plain(value) if isinstance(value, BaseModel) else value))


def fitting(entries: Sequence[BaseModel], room: int) -> int:
    """Return how many of the first entries fit into a number of tokens."""
    for number, entry in enumerate(entries):
        room -= tokens_of(entry) + 1
        if room < 0:
            return number
    return len(entries)


def beginning(text: str, room: int) -> str:
    """Return the longest beginning of a text that fits into a number of tokens, to the end of a line or a word."""
    if room <= 0:
        return ""
    cut = text[: room * LONGEST_TOKEN]
    if len(cut) == len(text) and tokens_of(text) <= room:
        return text
    low, high = 0, len(cut)
    while low < high:
        middle = (low + high + 1) // 2
        if tokens_of(cut[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    cut = cut[:low]
    for separator in ("\n", " "):
        end = cut.rfind(separator, max(1, len(cut) - _SEARCHED_FOR_BREAK))
        if end > 0:
            return cut[: end + 1]
    return cut


def clipped(text: str, most: int) -> str:
    """Return a text of at most a number of characters; `…` stands for the rest."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
