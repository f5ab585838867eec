"""Numbers that a document prints on its pages, where they are not the numbers of its pages: iii, A-4.

A document's metadata has them as `page_labels`: the label of each page, by its number, from which they are counted on.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

_MOST: Final = 500
"""Most entries; a document with more has labels that count nothing."""
_LONGEST: Final = 40
"""Characters of a label."""
_COUNTED: Final = re.compile(r"(.*?)(\d{1,9}|[ivxlcdm]+|[IVXLCDM]+)")
_ROMAN: Final = (
    ("m", 1000), ("cm", 900), ("d", 500), ("cd", 400), ("c", 100), ("xc", 90),
    ("l", 50), ("xl", 40), ("x", 10), ("ix", 9), ("v", 5), ("iv", 4), ("i", 1),
)  # fmt: skip


def page_labels(labels: Sequence[str]) -> dict[str, str]:
    """Return the entries for the labels of all pages; none where each is the page's own number, or none has one."""
    if not any(labels) or list(labels) == [str(number) for number in range(1, len(labels) + 1)]:
        return {}
    entries: dict[str, str] = {}
    expected: str | None = None
    for number, label in enumerate(labels, start=1):
        label = " ".join(label.split())[:_LONGEST]
        if label != expected:
            entries[str(number)] = label
        expected = _counted_on(label, 1)
    return entries if len(entries) <= _MOST else {}


def page_label(page: int | None, metadata: Mapping[str, Any]) -> str | None:
    """Return the label of a page, counted from 1, by the metadata of its document; None for one without."""
    entries = metadata.get("page_labels")
    if page is None or not isinstance(entries, Mapping):
        return None
    starts = [int(start) for start in entries if start.isdecimal() and int(start) <= page]
    if not starts:
        return None
    label = _counted_on(str(entries[str(max(starts))]), page - max(starts))
    return label or None


def page_words(page: int | None, metadata: Mapping[str, Any]) -> str:
    """Return a page as it is cited: `page 3`, or `page iii (3 of the file)`; empty without a page."""
    return labelled(page, page_label(page, metadata))


def labelled(page: int | None, label: str | None) -> str:
    """Return a page with its label as it is cited."""
    if page is None:
        return ""
    return f"page {page}" if label in (None, str(page)) else f"page {label} ({page} of the file)"


def _counted_on(label: str, by: int) -> str:
    """Return the label that is some pages further; one that does not count stays."""
    found = _COUNTED.fullmatch(label)
    if found is None:
        return label
    before, last = found.groups()
    if last.isdecimal():
        return f"{before}{int(last) + by:0{len(last) if last.startswith('0') else 1}}"
    number = _number(last.lower())
    if _roman(number) != last.lower():
        return label
    return before + (_roman(number + by) if last.islower() else _roman(number + by).upper())


def _number(roman: str) -> int:
    values = [dict(_ROMAN)[letter] for letter in roman]
    return sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))


def _roman(number: int) -> str:
    text = ""
    for letters, value in _ROMAN:
        times, number = divmod(number, value)
        text += letters * times
    return text
