"""What recognition returns."""

from dataclasses import dataclass

from sourcebook.parsing.pdf.layout.page_parts import Page


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """One run of text on an upright page; lengths in pixels of that page, from its upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float
    """0 to 1."""
    turned: bool = False
    """Whether it runs upwards or downwards rather than across the page."""

    @property
    def height(self) -> float:
        """The height of the line's box."""
        return self.bottom - self.top

    @property
    def width(self) -> float:
        """The width of the line's box."""
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """A picture of a page, turned upright, and the lines found in it, in no promised order."""

    width: int
    """Pixels, after turning."""
    height: int
    rotation: int
    """By how many degrees clockwise the picture had to be turned to stand upright: 0, 90, 180 or 270."""
    lines: tuple[RecognisedLine, ...]
    unread: int = 0
    """How many more lines there seem to be that could not be read, such as those in a script without a model."""

    @property
    def confidence(self) -> float | None:
        """Mean confidence, weighted by letters; None without lines."""
        letters = sum(len(line.text) for line in self.lines)
        return sum(line.confidence * len(line.text) for line in self.lines) / letters if letters else None


@dataclass(frozen=True, slots=True)
class RecognisedPdfPage:
    """A page of a PDF whose lines were read from its picture."""

    page: Page
    """Upright; lengths in points."""
    confidence: float | None
    """Mean confidence, weighted by letters, 0 to 1; None without lines."""
    rotation: int
    """By how many degrees clockwise the page, as a viewer shows it, had to be turned: 0, 90, 180 or 270."""
    unread: int = 0
    """How many more lines there seem to be that could not be read."""
    drawn: bool = True
    """False where the page is so damaged that it has no picture; nothing is known of it then, not even its size."""
