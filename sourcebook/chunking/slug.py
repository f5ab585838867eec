"""GitHub's anchors: what a heading's link ends in on github.com, and in most Markdown renderers after it."""

import unicodedata

_KEPT_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})


def slug(heading: str) -> str:
    """Return a heading's slug before it is made unique: lower case, no punctuation, spaces as hyphens.

    Follows the package github-slugger: letters, marks, digits, connector punctuation (_), hyphens and spaces stay.
    """
    lowered = heading.lower()
    if lowered.isascii() and lowered.replace(" ", "").isalnum():
        return lowered.replace(" ", "-")
    kept = (letter for letter in lowered if letter in "- " or unicodedata.category(letter) in _KEPT_CATEGORIES)
    return "".join(kept).replace(" ", "-")


class Slugger:
    """Gives each heading of one document its own anchor: `foo`, `foo-1`, `foo-2`."""

    def __init__(self) -> None:
        self._occurrences: dict[str, int] = {}

    def unique(self, heading: str) -> str:
        """Return the anchor of the document's next heading; headings must come in reading order."""
        plain = candidate = slug(heading)
        while candidate in self._occurrences:
            self._occurrences[plain] += 1
            candidate = f"{plain}-{self._occurrences[plain]}"
        self._occurrences[candidate] = 0
        return candidate
