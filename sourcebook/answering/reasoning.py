"""The reasoning that some models write into their answer, between `<think>` and `</think>`: it is no part of it."""

import re
from typing import Final, Literal

_OPENING: Final = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_CLOSING: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_LONGEST: Final = len("</thinking>")


class WithoutReasoning:
    """Takes the pieces of a model's text and gives back those of its answer."""

    def __init__(self) -> None:
        self._state: Literal["begins", "reasons", "answers"] = "begins"
        self._held = ""

    def add(self, piece: str) -> str:
        """Add a piece; return what is known to be of the answer."""
        if self._state == "answers":
            return piece
        self._held += piece
        if self._state == "begins":
            if _OPENING.match(self._held) is None:
                return "" if self._may_open() else self._answer(self._held)
            self._state = "reasons"
        closing = _CLOSING.search(self._held)
        if closing is not None:
            return self._answer(self._held[closing.end() :])
        self._held = self._held[-_LONGEST:]
        return ""

    def end(self) -> str:
        """Return what was held back as the beginning of a tag and was none."""
        return self._answer(self._held) if self._state == "begins" else ""

    def _may_open(self) -> bool:
        begun = self._held.lstrip().lower()
        return any(tag.startswith(begun) for tag in ("<think>", "<thinking>"))

    def _answer(self, text: str) -> str:
        self._state, self._held = "answers", ""
        return text
