"""Texts of a page that may be invisible, by what PDFium says of the objects that paint it; lengths in points."""

from collections.abc import Iterator
from ctypes import addressof, byref, c_float, c_int, c_uint, c_ulong, c_ushort
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
from pypdfium2 import raw  # type: ignore[import-untyped] # has no stubs

from sourcebook.model.document import Box

_MOST_OBJECTS = 30_000
"""Objects of a page that are looked at."""
_MOST_AREAS = 3_000
"""Largest filled areas and pictures of a page that are compared with its texts."""
_DEEPEST = 12
_HIDDEN_MODES = (3, 7)
"""PDF's text rendering modes of text that is not painted, and of text that only clips."""
_ALIKE = 24
"""Difference of two colours, 0 to 255, up to which text may be invisible on its ground."""
_LEAST_ALPHA = 26
"""Opacity, 0 to 255, below which text is no more than a shade."""
_OPAQUE = 230
_FULL_PAGE = 0.65
"""Share of the page that a scan covers at least."""
_CHUNK = 2_000_000
_TEXT, _PATH, _PICTURE, _SHADING, _FORM = 1, 2, 3, 4, 5
_UNKNOWN = (nan, nan, nan)
_EVERYWHERE = (-inf, -inf, inf, inf)
_MOST_SEGMENTS = 1_000
"""Corners of a clipping path that are looked at."""
_Colour = tuple[float, float, float]
_Matrix = tuple[float, float, float, float, float, float]
_Parts = tuple[c_uint, c_uint, c_uint, c_uint]
"""Red, green, blue and alpha as PDFium fills them in."""


@dataclass(slots=True)
class DoubtfulTexts:
    """Text objects that a reader of the page may not see."""

    texts: dict[int, Any] = field(default_factory=dict)
    """PDFium's objects by their address."""
    recognised: set[int] = field(default_factory=set)
    """Addresses of those hidden as the words of a scan are: not painted, or below a picture of the whole page."""
    pictures: list[Box] = field(default_factory=list)
    """Left, lower, right and upper edge of each picture, in the page's coordinates."""
    scanned: bool = False
    """Whether pictures cover the page."""


@dataclass(slots=True)
class _Area:
    order: int
    box: Box
    colour: _Colour
    is_picture: bool


class _Text(NamedTuple):
    order: int
    one: Any
    colour: _Colour
    matrix: _Matrix | None
    clip: Box


def doubtful_texts(page: Any, *, with_layers: bool) -> DoubtfulTexts:
    """Return the text objects that may be invisible: hidden, in layers, or in the colour of what is behind them.

    Args:
        page: PDFium's page.
        with_layers: whether the file has layers that may be switched off.
    """
    found = DoubtfulTexts()
    plain: list[_Text] = []
    areas: list[_Area] = []
    clips: dict[int, Box] = {}
    parts: _Parts = (c_uint(), c_uint(), c_uint(), c_uint())
    for order, (one, kind, matrix, layered) in enumerate(_objects(page, with_layers=with_layers)):
        if kind == _TEXT:
            mode = raw.FPDFTextObj_GetTextRenderMode(one)
            ask = raw.FPDFPageObj_GetStrokeColor if mode == 1 else raw.FPDFPageObj_GetFillColor
            colour, alpha = _colour(one, ask, parts)
            if mode in _HIDDEN_MODES or alpha < _LEAST_ALPHA or layered:
                found.texts[address(one)] = one
                if mode in _HIDDEN_MODES:
                    found.recognised.add(address(one))
            else:
                plain.append(_Text(order, one, colour, matrix, _clip(one, matrix, clips)))
        elif (area := _area(one, kind, order, matrix, parts)) is not None:
            areas.append(area)
            if area.is_picture:
                found.pictures.append(area.box)
    found.scanned = sum(map(_size, found.pictures)) > _FULL_PAGE * page.get_width() * page.get_height()
    if areas or clips or any(min(text.colour) >= 255 - _ALIKE for text in plain):
        _compare(found, plain, areas)
    return found


def address(one: Any) -> int:
    """Return what tells PDFium's objects apart."""
    return addressof(one.contents)


def _objects(page: Any, *, with_layers: bool) -> Iterator[tuple[Any, int, _Matrix | None, bool]]:
    """Yield the objects in the order in which they are painted, those of drawings with the drawing's matrix."""
    ahead: list[tuple[Any, _Matrix | None, bool, int]] = [
        (raw.FPDFPage_GetObject(page.raw, place), None, False, 0)
        for place in range(min(raw.FPDFPage_CountObjects(page.raw), _MOST_OBJECTS) - 1, -1, -1)
    ]
    seen = 0
    while ahead and seen < _MOST_OBJECTS:
        one, matrix, layered, depth = ahead.pop()
        seen += 1
        kind = raw.FPDFPageObj_GetType(one)
        layered = layered or (kind in (_TEXT, _FORM) and _is_layered(one))
        if kind != _FORM:
            yield one, kind, matrix, layered
        elif depth < _DEEPEST:
            inner = _times(_matrix(one), matrix)
            count = min(raw.FPDFFormObj_CountObjects(one), _MOST_OBJECTS)
            ahead += [
                (raw.FPDFFormObj_GetObject(one, place), inner, layered or with_layers, depth + 1)
                for place in range(count - 1, -1, -1)
            ]


def _is_layered(one: Any) -> bool:
    """Tell whether the content of a layer, which may be switched off, holds an object."""
    for place in range(raw.FPDFPageObj_CountMarks(one)):
        name, length = (c_ushort * 8)(), c_ulong()
        raw.FPDFPageObjMark_GetName(raw.FPDFPageObj_GetMark(one, place), name, 16, byref(length))
        if name[:3] == [ord("O"), ord("C"), 0]:
            return True
    return False


def _colour(one: Any, ask: Any, parts: _Parts) -> tuple[_Colour, int]:
    red, green, blue, alpha = parts
    if not ask(one, *parts):
        return _UNKNOWN, 255
    return (float(red.value), float(green.value), float(blue.value)), alpha.value


def _area(one: Any, kind: int, order: int, matrix: _Matrix | None, parts: _Parts) -> _Area | None:
    """Return the box that a picture or a filled path may cover."""
    colour = _UNKNOWN
    if kind == _PATH:
        fill, stroke = c_int(), c_int()
        colour, alpha = _colour(one, raw.FPDFPageObj_GetFillColor, parts)
        if not raw.FPDFPath_GetDrawMode(one, fill, stroke) or not fill.value or alpha < _OPAQUE:
            return None
    elif kind not in (_PICTURE, _SHADING):
        return None
    return _Area(order, box_of(one, matrix), colour, kind == _PICTURE)


def box_of(one: Any, matrix: _Matrix | None) -> Box:
    """Return the left, lower, right and upper edge of an object, in the page's coordinates."""
    edges = (c_float(), c_float(), c_float(), c_float())
    raw.FPDFPageObj_GetBounds(one, *edges)
    left, bottom, right, top = (edge.value for edge in edges)
    return _moved((left, bottom, right, top), matrix)


def _moved(box: Box, matrix: _Matrix | None) -> Box:
    if matrix is None:
        return box
    left, bottom, right, top = box
    a, b, c, d, e, f = matrix
    corners = [(a * x + c * y + e, b * x + d * y + f) for x in (left, right) for y in (bottom, top)]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _clip(one: Any, matrix: _Matrix | None, known: dict[int, Box]) -> Box:
    """Return the box that all clipping paths of an object have in common; one text after another has the same paths."""
    clip, box = raw.FPDFPageObj_GetClipPath(one), _EVERYWHERE
    for path in range(max(0, raw.FPDFClipPath_CountPaths(clip))):
        first = raw.FPDFClipPath_GetPathSegment(clip, path, 0)
        if not first:
            continue
        if (own := known.get(address(first))) is None:
            xs, ys, x, y = [], [], c_float(), c_float()
            for place in range(min(raw.FPDFClipPath_CountPathSegments(clip, path), _MOST_SEGMENTS)):
                raw.FPDFPathSegment_GetPoint(raw.FPDFClipPath_GetPathSegment(clip, path, place), x, y)
                xs.append(x.value)
                ys.append(y.value)
            own = known[address(first)] = _moved((min(xs), min(ys), max(xs), max(ys)), matrix)
        box = max(box[0], own[0]), max(box[1], own[1]), min(box[2], own[2]), min(box[3], own[3])
    return box


def _matrix(one: Any) -> _Matrix:
    found = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(one, found)
    return found.a, found.b, found.c, found.d, found.e, found.f


def _times(inner: _Matrix, outer: _Matrix | None) -> _Matrix:
    if outer is None:
        return inner
    (a, b, c, d, e, f), (g, h, i, j, k, m) = inner, outer
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _compare(found: DoubtfulTexts, plain: list[_Text], areas: list[_Area]) -> None:
    """Add the texts that reach beyond their clip or below an area, and those in the colour of what they are on."""
    areas = sorted(areas, key=lambda one: _size(one.box))[-_MOST_AREAS:]
    areas.sort(key=lambda one: one.order)
    boxes = np.array([one.box for one in areas]).reshape(-1, 4)
    orders = np.array([one.order for one in areas])
    colours = np.array([(255.0, 255.0, 255.0)] + [one.colour for one in areas])  # the page, and what is painted on it
    pictures = np.array([one.is_picture for one in areas], dtype=bool)
    step = max(1, _CHUNK // max(1, len(areas)))
    for start in range(0, len(plain), step):
        part = plain[start : start + step]
        text = np.array([box_of(one.one, one.matrix) for one in part])
        order = np.array([one.order for one in part])[:, None]
        wide, high = (text[:, 2] - text[:, 0])[:, None], (text[:, 3] - text[:, 1])[:, None]
        slack = np.minimum(wide, high) / 2
        across, down = _shared(text, boxes)
        covered = (orders > order) & (across > slack) & (down > slack)
        below = (orders < order) & (across >= 0.9 * wide) & (down >= 0.9 * high)
        last = np.where(below, np.arange(1, len(areas) + 1), 0).max(axis=1, initial=0)
        apart = np.abs(np.array([one.colour for one in part]) - colours[last]).max(axis=1)
        across, down = _shared(text, np.array([one.clip for one in part])[:, None])
        clipped = (across < wide - slack) | (down < high - slack)
        for place in np.flatnonzero(covered.any(axis=1) | clipped[:, 0] | ~(apart > _ALIKE)):
            one = part[place].one
            found.texts[address(one)] = one
            if found.scanned and (covered[place] & pictures).any():
                found.recognised.add(address(one))


def _shared(text: Any, boxes: Any) -> tuple[Any, Any]:
    """Return the width and height that each text shares with each box, or with its own."""
    across = np.minimum(text[:, None, 2], boxes[..., 2]) - np.maximum(text[:, None, 0], boxes[..., 0])
    return across, np.minimum(text[:, None, 3], boxes[..., 3]) - np.maximum(text[:, None, 1], boxes[..., 1])


def _size(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
