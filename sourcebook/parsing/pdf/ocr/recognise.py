"""OCR of a picture of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import sqrt
from typing import TYPE_CHECKING

from sourcebook.parsing.pdf.ocr.recognised_page import RecognisedLine, RecognisedPage

if TYPE_CHECKING:
    from PIL.Image import Image

    from sourcebook.parsing.pdf.ocr.engine import Pixels, Quads, Reading

MOST_PIXELS = 3_000_000
"""Pixels to which larger pictures are reduced: A4 at 175 dpi.

At this size 99 % of the words in print of 6 points are read. A dense page takes about four seconds on two idle cores
and 1.2 GB of memory.
"""
LONGEST_SIDE = 10_000
"""Pixels of the longest side of a picture."""
_SHORTEST_SIDE = 8
"""Pixels of the shortest side of a picture with readable letters."""
_FEWEST_PIXELS = 500_000
"""Pixels to which smaller pictures are enlarged, because their letters are small."""
_LARGEST_SCALE = 3.0
"""Largest factor by which a picture is enlarged."""
_LEAST_CONFIDENCE = 0.8
"""Confidence below which a line is dropped.

Print gives 0.9 and more, even blurred, noisy or pale print. Specks give 0.2, photos and unknown scripts 0.5 to 0.8.
"""
_LETTER = re.compile(r"\w")


def recognise(image: Image, languages: tuple[str, ...] = ()) -> RecognisedPage:
    """Read the picture of a page, rotated by 0, 90, 180 or 270 degrees and slightly skewed.

    RapidOCR's models know Latin, Chinese and Japanese letters.

    Args:
        image: picture of the page.
        languages: tesseract's names of further languages, such as `rus`.

    Raises:
        MissingDependencyError: rapidOCR is installed without its models, or Tesseract without a language.
    """
    import numpy as np

    from sourcebook.parsing.pdf.ocr.engine import cut_out
    from sourcebook.parsing.pdf.ocr.geometry import half_turned, heights, lengths, sideways
    from sourcebook.parsing.pdf.ocr.line_readers import line_reader
    from sourcebook.parsing.pdf.ocr.orientation import turn_upright

    scale = _scale(image.width, image.height)
    size = (round(image.width * scale), round(image.height * scale))
    if min(size) < _SHORTEST_SIDE:
        return RecognisedPage(image.width, image.height, rotation=0, lines=())
    small = image.convert("RGB").resize(size, reducing_gap=2.0)
    read_lines = line_reader(languages)
    pixels, quads, rotation = turn_upright(np.ascontiguousarray(np.asarray(small)[:, :, ::-1]), read_lines)
    cuts = cut_out(pixels, quads)
    readings = read_lines(cuts)
    for place in np.flatnonzero(sideways(quads)):  # these were cut out as if they ran downwards
        upwards = read_lines([half_turned(cuts[place])])[0]
        readings[place] = max(readings[place], upwards, key=lambda reading: reading.confidence)
    known = np.array([_is_text(reading) for reading in readings], dtype=bool)
    wide = lengths(quads) > 2 * heights(quads)
    width, height = (image.height, image.width) if rotation in (90, 270) else (image.width, image.height)
    return RecognisedPage(
        width=width,
        height=height,
        rotation=rotation,
        lines=tuple(_lines(pixels, quads, readings, width, height)),
        unread=int((wide & ~known).sum()),
    )


def _scale(width: int, height: int) -> float:
    pixels = max(width * height, 1)
    enlarged = min(max(sqrt(_FEWEST_PIXELS / pixels), 1.0), _LARGEST_SCALE)
    return min(enlarged, sqrt(MOST_PIXELS / pixels), LONGEST_SIDE / max(width, height, 1))


def _is_text(reading: Reading) -> bool:
    """Tell whether a reading is text; in unknown scripts, only commas and points have a high confidence."""
    known = reading.confidence >= _LEAST_CONFIDENCE and bool(reading.text)
    return known and (len(reading.text) < 3 or _LETTER.search(reading.text) is not None)


def _lines(pixels: Pixels, quads: Quads, readings: list[Reading], width: int, height: int) -> Iterator[RecognisedLine]:
    """Yield the lines of the straightened page, in pixels of the original picture."""
    import numpy as np

    from sourcebook.parsing.pdf.ocr.geometry import sideways, straightened

    limit = np.array([width, height])
    small_height, small_width = pixels.shape[:2]
    corners = straightened(quads, small_width, small_height) * (limit / [small_width, small_height])
    for quad, reading, turned in zip(corners, readings, sideways(quads), strict=True):
        if _is_text(reading):
            left, top = np.clip(quad.min(axis=0), 0, limit)
            right, bottom = np.clip(quad.max(axis=0), 0, limit)
            yield RecognisedLine(
                text=reading.text,
                left=float(left),
                top=float(top),
                right=float(right),
                bottom=float(bottom),
                confidence=reading.confidence,
                turned=bool(turned),
            )
