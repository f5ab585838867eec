"""Comments on a page, each behind the text that it is about."""

from collections import defaultdict
from collections.abc import Sequence

from sourcebook.parsing.pdf.layout.elements import Element, Part, Place, PlacedTable
from sourcebook.parsing.pdf.layout.measures import Rectangle, around
from sourcebook.parsing.pdf.layout.page_parts import Line, Page, Remark

_LEVEL = 4.0
"""Weight of a distance up or down: a note in the margin belongs to the text beside it."""


def with_remarks(found: Sequence[Part], pages: Sequence[Page]) -> list[Part]:
    """Return the parts of a document with the comments of its pages."""
    remarks = {page.number: page.remarks for page in pages if page.remarks}
    if not remarks:
        return list(found)
    places: dict[int, list[tuple[int, Rectangle]]] = defaultdict(list)
    last: dict[int, int] = {}
    for index, one in enumerate(found):
        for place in _places(one):
            last[place.page] = index
            if place.page in remarks and one.kind != "running head":
                places[place.page].append((index, place))
    behind: dict[int, list[Part]] = defaultdict(list)
    for number, of_page in remarks.items():
        before = max((index for page, index in last.items() if page <= number), default=-1)
        for remark in of_page:
            index = min(places[number], key=lambda one: _distance(remark, one[1]), default=(before, remark))[0]
            behind[index].append(_element(remark, number))
    return [*behind[-1], *(part for index, one in enumerate(found) for part in (one, *behind[index]))]


def _places(one: Part) -> Sequence[Place]:
    if not isinstance(one, PlacedTable):
        return one.places
    table = one.table
    return Place(one.page, table.left, table.top, table.right, table.bottom), *one.more


def _distance(remark: Remark, place: Rectangle) -> tuple[float, float]:
    """Return the distance to a text; of those that are as near, the one whose middle is nearer is chosen."""
    across = max(0.0, place.left - remark.right, remark.left - place.right)
    up_or_down = max(0.0, place.top - remark.bottom, remark.top - place.bottom)
    return across + _LEVEL * up_or_down, abs(place.middle - remark.middle)


def _element(remark: Remark, page: int) -> Element:
    edges = around([remark])
    line = Line(remark.text, remark.left, remark.right, remark.top, remark.bottom, size=remark.height)
    return Element("entry", remark.text, (Place(page, *edges),), line, line, (remark.left, remark.right))
