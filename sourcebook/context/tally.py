"""Tokens of a context's passages: most of each is counted once, wherever it stands."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sourcebook.context.passages import ContextPassage
from sourcebook.context.rendering import Format
from sourcebook.context.tokens import TokenCounter

_SEAM: Final = re.compile(r"[^\W\d_] (?=[^\W\d_])")
_TAIL: Final = 80
"""Characters at the end of a passage in which the last space between two words is looked for."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A passage as a format counts it."""

    rest: str
    """Its text without the inner part: all of it where no token is known to end within."""
    inner: str = ""
    """Text between its first and its last space between two words, with the letter before and the two signs behind."""
    tokens: int = 0
    """Tokens of the inner part, wherever it stands."""


class Tally:
    """Counter of the tokens of passages and of the context that they become.

    Where no token crosses the space between two words, the tokens of a text are those of its parts; see
    `TokenCounter.adds_up`. Other tokenizers count every text whole.
    """

    def __init__(self, counter: TokenCounter, form: Format) -> None:
        """Begin without a passage."""
        self._counter = counter
        self._form = form
        self._known: dict[tuple[tuple[int, int, int], int, int], Counted] = {}

    def of(self, passage: ContextPassage) -> Counted:
        """Return a passage as it is counted."""
        name = passage.key, passage.start, passage.end
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._counted(self._form.body(passage))
        return known

    def whole(self, text: str, passages: Iterable[ContextPassage]) -> int:
        """Return the tokens of a context.

        Args:
            text: what is counted of it.
            passages: in the order in which they stand in it.
        """
        tokens, done, rest = 0, 0, []
        for passage in passages:
            known = self._known.get((passage.key, passage.start, passage.end))
            at = text.find(known.inner, done) if known is not None and known.inner else -1
            if known is not None and at >= 0:
                rest.append(text[done : at + 1])
                done = at + len(known.inner) - 2
                tokens += known.tokens
        return tokens + self._counter.count("".join([*rest, text[done:]]))

    def _counted(self, body: str) -> Counted:
        first = _SEAM.search(body) if self._counter.adds_up else None
        if first is None:
            return Counted(body)
        start = first.start() + 1
        ends = [found.start() + 1 for found in _SEAM.finditer(body, max(first.end(), len(body) - _TAIL))]
        if not ends:
            return Counted(body)
        end = ends[-1]
        tokens = self._counter.count(body[start:end])
        return Counted(body[:start] + body[end:], body[start - 1 : end + 2], tokens)
