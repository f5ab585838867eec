"""Lines of a text file in words and in the address of a web view."""

import pytest

from sourcebook.model.passage_part import PassagePart
from sourcebook.model.place import address_of, joined_lines, line_anchor, lines_of, place_words


@pytest.mark.parametrize(
    ("address", "several", "one"),
    [
        ("file:///code/tide.f90", "L10-L42", "L7"),
        ("https://github.com/o/r/blob/1f6/src/a.py", "L10-L42", "L7"),
        ("https://github.example.org/o/r/blob/1f6/src/a.py", "L10-L42", "L7"),
        ("https://gitlab.com/o/r/-/blob/1f6/src/a.py", "L10-42", "L7"),
        ("https://git.sr.ht/~o/r/tree/1f6/item/a.py", "L10-42", "L7"),
        ("https://codeberg.org/o/r/src/commit/1f6/a.py", "L10-L42", "L7"),
        ("https://bitbucket.org/o/r/src/1f6/a.py", "lines-10:42", "lines-7"),
    ],
)
def test_lines_are_addressed_as_the_web_view_does(address: str, several: str, one: str) -> None:
    """Services write a range of lines differently; a single line has no range."""
    assert address_of(address, PassagePart(0, anchor=line_anchor(10, 42))) == f"{address}#{several}"
    assert address_of(address, PassagePart(0, anchor=line_anchor(7, 7))) == f"{address}#{one}"


def test_lines_in_words() -> None:
    """They are said between headings and page; the anchor of a heading is no line."""
    assert place_words(PassagePart(0, ("Buoy", "damp"), "L10-L42"), "buoy.py", {}) == ["Buoy › damp", "lines 10–42"]
    assert place_words(PassagePart(0, (), "L7-L7"), "", {}) == ["line 7"]
    assert place_words(PassagePart(0, (), "l10-l42"), "", {}) == []
    assert lines_of("lines") is lines_of(None) is None


def test_lines_are_joined() -> None:
    """From the first line of one part to the last one of another; other anchors stay."""
    assert joined_lines("L3-L5", "L9-L12") == "L3-L12"
    assert joined_lines("pumps", "L9-L12") == "pumps"
