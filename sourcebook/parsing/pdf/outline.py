"""The table of contents that a PDF file carries."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from sourcebook.parsing.pdf.layout.page_parts import OutlineEntry

_MOST_ENTRIES = 20_000
_DEEPEST = 10


def read_outline(document: Any) -> list[OutlineEntry]:
    """Return the outline's entries in their order; of a damaged one, what comes before the damage.

    Args:
        document: pypdfium2's, which has no type stubs.
    """
    found: list[OutlineEntry] = []
    with suppress(ValueError, RuntimeError):
        found.extend(islice(_entries(document), _MOST_ENTRIES))
    return found


def _entries(document: Any) -> Iterator[OutlineEntry]:
    for mark in document.get_toc(max_depth=_DEEPEST):
        title = " ".join((mark.get_title() or "").split())
        destination = mark.get_dest()
        index = destination.get_index() if destination is not None else None
        if title:
            yield OutlineEntry(title, mark.level + 1, None if index is None or index < 0 else index + 1)
