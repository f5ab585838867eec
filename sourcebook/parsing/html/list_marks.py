"""Marks of numbered lists that Markdown has no list for: letters, Roman numbers, and numbers that jump or fall."""

import re
from typing import Final

from sourcebook.parsing.html.tree import Element
from sourcebook.parsing.text.list_numbers import list_number

_JOINER: Final = "\u2060"
"""Invisible character, which conversion drops at its end: before it, a number would be escaped as that of a list."""
_STYLE: Final = re.compile(
    r"list-style(?:-type)?\s*:[^;]*?\b(none|(?:lower|upper)-\w+|decimal-leading-zero)", re.IGNORECASE
)
_KINDS: Final = {
    "none": "", "decimal-leading-zero": "01", "lower-greek": "α", "lower-roman": "i", "upper-roman": "I",
    **dict.fromkeys(("lower-alpha", "lower-latin"), "a"), **dict.fromkeys(("upper-alpha", "upper-latin"), "A"),
}  # fmt: skip
_CLASSES: Final = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I", "lowergreek": "α"}
"""Classes of lists that docutils and Asciidoctor write, whose style sheets show them so."""


def write_list_marks(root: Element) -> None:
    """Turn numbered lists whose numbers Markdown would not show into bulleted ones with the marks in their text."""
    for numbered in list(root.iter("ol")):
        kind = _kind(numbered)
        items = [item for item in numbered if item.tag == "li"]
        numbers = _numbers(numbered, items)
        if kind == "1" and all(number == numbers[0] + place for place, number in enumerate(numbers)):
            numbered.set("start", str(numbers[0] if numbers else 1))
            continue
        numbered.tag = "ul"
        for item, number in zip(items, numbers, strict=True):
            if mark := list_number(number, kind):
                prefix_item(item, f"{mark}. ")


def _kind(numbered: Element) -> str:
    if (named := numbered.get("type")) in {"a", "A", "i", "I"}:
        return named or ""
    style = _STYLE.search(numbered.get("style") or "")
    names = (numbered.get("class") or "").split()
    return (
        _KINDS.get(style[1].lower(), "1")
        if style
        else next((_CLASSES[name] for name in names if name in _CLASSES), "1")
    )


def _numbers(numbered: Element, items: list[Element]) -> list[int]:
    falls = numbered.get("reversed") is not None
    number = _integer(numbered.get("start"), len(items) if falls else 1)
    numbers = []
    for item in items:
        number = _integer(item.get("value"), number)
        numbers.append(number)
        number += -1 if falls else 1
    return numbers


def _integer(value: str | None, otherwise: int) -> int:
    text = (value or "").strip()
    return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else otherwise


def prefix_item(item: Element, mark: str) -> None:
    """Write a mark before the text of a list item."""
    while not (item.text or "").strip() and len(item) and item[0].tag in {"p", "div"}:
        item = item[0]
    item.text = f"{_JOINER}{mark}{(item.text or '').lstrip()}"
