"""Content of a page that its text leaves out: frames, embedded files, controls, drawings, menus."""

from typing import Final

from sourcebook.model.left_out import LeftOutKind
from sourcebook.parsing.html.tree import Element, found

_FRAMES: Final = ("iframe", "frame")
_OBJECTS: Final = ("object", "embed", "audio", "video")
_WORDS: Final = ("svg", "canvas", "select", "textarea", "template", "noscript", "datalist", "dialog")
_SILENT: Final = frozenset({"hidden", "password", "checkbox", "radio", "image", "file", "color", "range"})
"""Types of controls that show no words of their own."""


def unreadable_parts(tree: Element) -> dict[LeftOutKind, int]:
    """Return what goes with the elements that hold no text of a page, by kind."""
    values = (each.get("value") or "" for each in tree.iter("input") if (each.get("type") or "").lower() not in _SILENT)
    return {
        "frames": sum(1 for _ in tree.iter(*_FRAMES)),
        "objects": sum(1 for _ in tree.iter(*_OBJECTS)),
        "hidden_words": sum(map(number_of_words, tree.iter(*_WORDS))) + sum(len(value.split()) for value in values),
    }


def number_of_words(element: Element) -> int:
    """Return the number of words of an element."""
    return len(" ".join(found(element, "descendant::text()")).split())
