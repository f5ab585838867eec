"""Quality of a text layer by the share of its words that lack letters."""

from sourcebook.parsing.pdf.decoded_pages import DecodedPage
from sourcebook.parsing.pdf.text_layer import text_layer
from sourcebook.parsing.pdf.words import Word

PAGE = DecodedPage(left=0, top=792, width=612, height=792, cells=(), shapes=(), drawn=0, pictures=())


def test_lines_of_ideographs_are_many_words() -> None:
    """A page of Chinese has few words between spaces: formulas that lack letters do not make it unreadable."""
    lines = [Word("\u884c" * 30, 72, 372, 72 + 12 * n, 82 + 12 * n, 10) for n in range(10)]
    torn = [Word("xgy", 72, 100, 400 + 12 * n, 410 + 12 * n, 10, unmapped=True) for n in range(8)]
    assert text_layer([*lines, *torn], PAGE) == "usable"
    assert text_layer([*lines[:1], *torn], PAGE) == "garbage"
