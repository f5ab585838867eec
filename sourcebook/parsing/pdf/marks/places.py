"""Places of annotations as viewers show them, also on rotated pages."""

import ctypes
from math import isfinite
from typing import Any

from pypdfium2 import raw  # type: ignore[import-untyped] # has no stubs

from sourcebook.model.document import Box
from sourcebook.parsing.pdf.decoded_pages import DecodedPage, Point

_STEPS = 100
"""Parts of a point to which places on a rotated page are computed."""


def place_of(annotation: Any, opened: Any, page: DecodedPage) -> Box:
    """Return the part of the page that an annotation covers, as a viewer shows it."""
    found = raw.FS_RECTF()
    corners = (0.0, 0.0), (0.0, 0.0)
    if raw.FPDFAnnot_GetRect(annotation, found) and isfinite(found.left + found.right + found.top + found.bottom):
        corners = _shown(opened, page, found.left, found.top), _shown(opened, page, found.right, found.bottom)
    xs, ys = zip(*corners, strict=True)
    left, right = (min(max(x, 0.0), page.width) for x in sorted(xs))
    top, bottom = (min(max(y, 0.0), page.height) for y in sorted(ys))
    return left, top, right, bottom


def place_in_file(opened: Any, page: DecodedPage, x: float, y: float) -> Point:
    """Return the place in the file that a viewer shows at a place."""
    if not opened.get_rotation():
        return x + page.left, page.top - y
    across, up = ctypes.c_double(), ctypes.c_double()
    raw.FPDF_DeviceToPage(opened, 0, 0, *_device(page), 0, round(x * _STEPS), round(y * _STEPS), across, up)
    return across.value, up.value


def _shown(opened: Any, page: DecodedPage, x: float, y: float) -> Point:
    """Return where a viewer shows a place of the file, which is turned for a rotated page."""
    if not opened.get_rotation():
        return x - page.left, page.top - y
    across, down = ctypes.c_int(), ctypes.c_int()
    raw.FPDF_PageToDevice(opened, 0, 0, *_device(page), 0, x, y, across, down)
    return across.value / _STEPS, down.value / _STEPS


def _device(page: DecodedPage) -> tuple[int, int]:
    return round(page.width * _STEPS), round(page.height * _STEPS)
