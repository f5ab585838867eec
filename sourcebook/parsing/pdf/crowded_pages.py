"""Pages with so many letters beyond their edges that docling-parse would take minutes for them.

It takes each letter beyond the page out of the list of the letters behind it, one after the other.
"""

from typing import Any

_MOST_MOVED = 250_000_000
"""Letters beyond a page times letters behind them in the file, at 10 ns each: 2.5 seconds."""


def is_crowded(page: Any, text: Any) -> bool:  # pypdfium2 has no stubs
    """Tell whether docling-parse would take too long for a page.

    Args:
        page: PDFium's page.
        text: PDFium's text of the page.
    """
    letters = text.count_chars()
    if letters * letters < 2 * _MOST_MOVED:  # nearly all pages
        return False
    inside = len(text.get_text_bounded(*page.get_bbox()))
    beyond = max(0, letters - inside)
    return bool(beyond * (inside + beyond / 2) > _MOST_MOVED)
