"""A candidate find among the characters around it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ERRORS = "surrogatepass"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A match of a rule's pattern, before its check."""

    data: bytes
    """The whole text as UTF-8."""
    start: int
    """Start of the match in bytes."""
    end: int
    regions: Sequence[str] = ()
    """ISO 3166 codes of the countries whose phone numbers are known without a country code."""

    @property
    def value(self) -> str:
        """The matched text."""
        return self.data[self.start : self.end].decode("utf-8", _ERRORS)

    def with_rest(self, signs: re.Pattern[bytes]) -> str:
        """Return the matched text with the bytes that go on behind it: a pattern may have stopped at its longest match.

        Args:
            signs: matches any number of the bytes of such a text.
        """
        found = signs.match(self.data, self.end)
        end = found.end() if found is not None else self.end
        return self.data[self.start : end].decode("utf-8", _ERRORS)

    def before(self, length: int = 48) -> str:
        """Return up to `length` bytes of the text before the match, on its line and the line above it."""
        return self.data[max(0, self.start - length) : self.start].decode("utf-8", "ignore")

    def after(self, length: int = 16) -> str:
        """Return up to `length` bytes of the text after the match."""
        return self.data[self.end : self.end + length].decode("utf-8", "ignore")
