"""The size of a page, and the places of a passage on it, as a server answers them."""

from dataclasses import dataclass

from sourcebook.model.page_picture import Box


@dataclass(frozen=True, slots=True)
class PagePlaces:
    """A page of a PDF; width and height in points."""

    page: int
    pages: int
    width: int
    height: int
    boxes: tuple[Box, ...]
