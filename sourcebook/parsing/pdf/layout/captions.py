"""Give tables the captions that stand above or below them."""

import re
from collections.abc import Sequence
from dataclasses import replace

from sourcebook.parsing.pdf.layout.elements import Element, PlacedTable

_NEAR = 40.0
"""Points between a table and its caption."""
_OF_TABLE = re.compile(r"\[?(?:tab|exhibit|표|表|таблица)", re.IGNORECASE)


def with_captions(found: Sequence[Element | PlacedTable]) -> list[Element | PlacedTable]:
    """Return the elements, captions of tables moved into their tables."""
    result: list[Element | PlacedTable] = []
    for one in found:
        before = result[-1] if result else None
        if isinstance(one, PlacedTable) and isinstance(before, Element) and _belongs(before, one):
            result[-1] = replace(one, caption=before)
        elif isinstance(before, PlacedTable) and isinstance(one, Element) and _below(one, before):
            result[-1] = replace(before, caption=one)
        else:
            result.append(one)
    return result


def _belongs(caption: Element, table: PlacedTable) -> bool:
    if caption.kind != "caption" or table.table.contents or caption.places[-1].page != table.page:
        return False
    return -2 <= table.table.top - caption.places[-1].bottom < _NEAR


def _below(caption: Element, table: PlacedTable) -> bool:
    if table.caption is not None or caption.kind != "caption" or caption.places[0].page != table.page:
        return False
    return _OF_TABLE.match(caption.text) is not None and -2 <= caption.places[0].top - table.table.bottom < _NEAR
