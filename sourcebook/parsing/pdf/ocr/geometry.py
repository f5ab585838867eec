"""Length, height and angle of the lines in a picture."""

import numpy as np
from numpy.typing import NDArray

from sourcebook.parsing.pdf.ocr.engine import Pixels, Quads


def lengths(quads: Quads) -> NDArray[np.float64]:
    """Return the length of each line, in pixels."""
    return _norms(_directions(quads))


def heights(quads: Quads) -> NDArray[np.float64]:
    """Return the height of each line, across its direction, in pixels."""
    return np.minimum(*(_norms(edges) for edges in _edges(quads)))


def angles(quads: Quads) -> NDArray[np.float64]:
    """Return the angle of each line in radians between -pi/2 and pi/2; positive angles fall to the right."""
    along = _directions(quads)
    along = along * np.where(along[:, :1] < 0, -1.0, 1.0)
    return np.asarray(np.arctan2(along[:, 1], along[:, 0]))


def sideways(quads: Quads) -> NDArray[np.bool_]:
    """Return a mask of the vertical lines; short lines, such as a single letter, do not count."""
    return (np.abs(angles(quads)) > np.pi / 4) & (lengths(quads) > 1.5 * heights(quads))


def straightened(quads: Quads, width: int, height: int) -> Quads:
    """Rotate the lines about the page's centre by their median angle, which straightens a skewed page."""
    level = quads[~sideways(quads) & (lengths(quads) > 5 * heights(quads))]
    if not len(level):
        return quads
    angle = np.median(angles(level))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    middle = np.array([width, height]) / 2
    return np.asarray((quads - middle) @ turn + middle)


def half_turned(pixels: Pixels) -> Pixels:
    """Return the picture rotated by 180 degrees."""
    return np.ascontiguousarray(pixels[::-1, ::-1])


def half_turned_lines(quads: Quads, width: int, height: int) -> Quads:
    """Return the lines of a page rotated by 180 degrees."""
    return (np.array([width, height]) - quads)[:, [2, 3, 0, 1]]


def _directions(quads: Quads) -> NDArray[np.float64]:
    first, second = _edges(quads)
    return np.where((_norms(first) >= _norms(second))[:, None], first, second)


def _edges(quads: Quads) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return quads[:, 1] - quads[:, 0], quads[:, 2] - quads[:, 1]


def _norms(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.norm(vectors, axis=1))
