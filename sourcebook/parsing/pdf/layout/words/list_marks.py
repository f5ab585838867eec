"""Marks before the items of a list."""

import re
from dataclasses import dataclass

from sourcebook.parsing.pdf.layout.words.page_numbers import roman_number

_BULLET = re.compile(r"(?:([•‣◦▪▫■□●○◆◇▶►➢➤✓✔❖∙⁃·∞*–—-]|o)\s+|([•‣◦▪●∙⁃・])(?=\w))(?=\S)")
_NUMBER = re.compile(
    r"(\(?(?:(?P<digits>\d{1,3})|(?P<roman>[ivx]{1,5})|(?P<letter>[a-zA-Z]))[.)]|\[(?P<reference>\d{1,3})\]"
    r"|(?P<circled>[①-⑳]))\s+(?=\S)"
)
_CHECKBOX = re.compile(r"[☐☑☒⬜✅]\s*(?=\S)|(?:\[[ xX✓✔]?\]|\( \))\s+(?=\S)")
_CIRCLED = ord("①") - 1


@dataclass(frozen=True, slots=True)
class ListMark:
    """A bullet or a number before an item."""

    text: str
    """Text behind the mark."""
    marker: str
    number: int | None = None
    """Value of a number; None for a bullet."""
    style: str = "bullet"
    """Kind of the mark; all marks of a list have one kind."""


def list_mark(line: str) -> ListMark | None:
    """Return the mark at the beginning of a line, or None."""
    if _CHECKBOX.match(line):
        return ListMark(line, "-", style="checkbox")  # the box says whether it is checked
    bullet = _BULLET.match(line)
    if bullet:
        return ListMark(line[bullet.end() :], "-", style=f"bullet {bullet[1] or bullet[2]}")
    match = _NUMBER.match(line)
    if match is None:
        return None
    text, mark = line[match.end() :], match[1]
    if match["digits"] or match["reference"]:
        return ListMark(text, mark, int(match["digits"] or match["reference"]), f"digits {_around(mark)}")
    if match["circled"]:
        return ListMark(text, mark, ord(match["circled"]) - _CIRCLED, "circled")
    if match["roman"] and (len(match["roman"]) > 1 or match["roman"] == "i"):
        return ListMark(text, mark, roman_number(match["roman"]), "roman")
    letter = match["letter"] or match["roman"]
    if letter.isupper() and mark == f"{letter}.":
        return None  # an initial of a name
    return ListMark(text, mark, ord(letter.lower()) - ord("a") + 1, f"letter {mark[-1]}")


def _around(mark: str) -> str:
    """Return the punctuation of a number, because `1)` and `2.` are not of one list."""
    return re.sub(r"\w+", "", mark)
