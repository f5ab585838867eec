"""Pages and lines of passages in the visitor's language; citations, which leave the page, keep their English words."""

import re
from typing import Final

from sourcebook.server.page.translation import gettext

PLACES: Final = {
    "page %(number)s": re.compile(r"page (?P<number>\d+)"),
    "page %(label)s (%(number)s of the file)": re.compile(r"page (?P<label>.+) \((?P<number>\d+) of the file\)"),
    "line %(first)s": re.compile(r"line (?P<first>\d+)"),
    "lines %(first)s–%(last)s": re.compile(r"lines (?P<first>\d+)–(?P<last>\d+)"),
}
"""Texts by the shapes in which `sourcebook.model.place` writes them."""


def said_place(words: str) -> str:
    """Return a part of a passage's place in the visitor's language; headings and times as they are."""
    for text, shape in PLACES.items():
        if found := shape.fullmatch(words):
            return gettext(text) % found.groupdict()
    return words
