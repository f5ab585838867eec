"""Upright orientation of a page's picture, found by the shape of its lines and by trial OCR."""

from collections.abc import Sequence

import numpy as np

from sourcebook.parsing.pdf.ocr.engine import Pixels, Quads, Reading, cut_out, find_lines
from sourcebook.parsing.pdf.ocr.geometry import half_turned, half_turned_lines, heights, lengths, sideways
from sourcebook.parsing.pdf.ocr.line_readers import LineReader

_SAMPLE = 6
"""Lines of the sample that is read."""
_SAMPLE_LENGTH = 10
"""Length of a sample line in heights: long enough to judge, and read in about 40 ms."""
_SURE = 0.9
"""Confidence above which a page is upright.

Upright lines are read with 0.9 and more, even noisy ones, and upside-down lines with 0.8 and less. RapidOCR's own
classifier is wrong for one line in six.
"""
_CLEARLY_BETTER = 0.1
"""Gain in confidence by which the page upside down is the better one."""


def turn_upright(pixels: Pixels, read_lines: LineReader) -> tuple[Pixels, Quads, int]:
    """Return the upright picture, its lines, and its clockwise rotation in degrees: 0, 90, 180 or 270."""
    rotation = 0
    quads = find_lines(pixels)
    if _mostly_sideways(quads):
        pixels, rotation = np.ascontiguousarray(np.rot90(pixels)), 270
        quads = find_lines(pixels)
    if _upside_down(pixels, quads, read_lines):
        quads = half_turned_lines(quads, width=pixels.shape[1], height=pixels.shape[0])
        pixels, rotation = half_turned(pixels), (rotation + 180) % 360
    return pixels, quads, rotation


def _mostly_sideways(quads: Quads) -> bool:
    long = lengths(quads)
    return bool(long[sideways(quads)].sum() > long.sum() / 2)


def _upside_down(pixels: Pixels, quads: Quads, read_lines: LineReader) -> bool:
    quads = quads[~sideways(quads)]
    shape = lengths(quads) / np.maximum(heights(quads), 1)
    cuts = cut_out(pixels, quads[np.argsort(np.abs(shape - _SAMPLE_LENGTH), kind="stable")[:_SAMPLE]])
    as_it_is = _confidence(read_lines(cuts))
    if not cuts or as_it_is >= _SURE:
        return False
    return _confidence(read_lines([half_turned(cut) for cut in cuts])) > as_it_is + _CLEARLY_BETTER


def _confidence(readings: Sequence[Reading]) -> float:
    letters = sum(len(reading.text) for reading in readings)
    return sum(reading.confidence * len(reading.text) for reading in readings) / letters if letters else 0.0
