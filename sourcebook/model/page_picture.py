"""Pictures of pages, with the places of a passage on them."""

from dataclasses import dataclass

Box = tuple[float, float, float, float]
"""Left, top, right and bottom of a rectangle, as shares (0 to 1) of the page's width and height from its upper left."""


@dataclass(frozen=True, slots=True)
class PagePicture:
    """One page as a viewer shows it."""

    png: bytes
    """The picture as PNG; empty where it was not asked for."""
    width: int
    """Pixels of the picture; points (1/72 inch) of the page without one."""
    height: int
    page: int
    """Counted from 1."""
    pages: int
    """Pages of the document."""
    boxes: tuple[Box, ...] = ()
    """Places of the passage on this page, a box for each line; none where it is not there or the page is a scan."""
