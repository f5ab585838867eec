"""Text of the words of a page."""

import pytest

from sourcebook.parsing.pdf.words import readable


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("\x84Gr\u00fc\u00dfe\x93", "\u201eGr\u00fc\u00dfe\u201c"),
        ("a\x96b", "a\u2013b"),
        ("end\x85", "end\u2026"),
        ("x\x81y", "xy"),
    ],
)
def test_control_characters_are_the_punctuation_of_windows(given: str, text: str) -> None:
    """Characters between U+0080 and U+009F are read as cp1252; those that it does not have are left out."""
    assert readable(given) == (text, False)
