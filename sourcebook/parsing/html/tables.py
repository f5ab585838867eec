"""Tables that only arrange a page are no tables."""

from sourcebook.parsing.html.tree import HEADINGS, Element

_PARTS = ("table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup", "col", "center")


def unwrap_layout_tables(root: Element) -> None:
    """Turn tables that arrange into plain blocks: what they hold is kept, in reading order.

    Such a table says so (`role=presentation`), has one cell, or holds a table, a heading or a chapter of text.
    """
    for table in list(root.iter("table")):
        if _arranges(table):
            for part in _own_parts(table):
                part.tag = "div"


def _arranges(table: Element) -> bool:
    if table.get("role") in {"presentation", "none"}:
        return True
    if next((inner for inner in table.iter("table", *HEADINGS) if inner is not table), None) is not None:
        return True
    cells = table.iter("td", "th")
    return next(cells, None) is not None and next(cells, None) is None


def _own_parts(table: Element) -> list[Element]:
    """Return the table and its rows and cells, but not those of a table within it."""
    found: list[Element] = []
    waiting = [table]
    while waiting:
        element = waiting.pop()
        found.append(element)
        waiting.extend(child for child in element if child.tag in _PARTS and child.tag != "table")
    return found
