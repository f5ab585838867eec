"""Diagrams (SmartArt) of Office files: their text, which lies in a part of its own."""

from collections.abc import Iterator
from typing import Any, Final

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

_DIAGRAM: Final = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_MAIN: Final = "http://schemas.openxmlformats.org/drawingml/2006/main"
DATA: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
"""Attribute of `REFERENCE` with the name of the relationship to the part."""
REFERENCE: Final = f"{{{_DIAGRAM}}}relIds"
"""Element that stands where a diagram is shown, and names its part."""
_DEEPEST: Final = 8
"""Levels of a list of paragraphs in Office, counted from 0."""


def diagram_texts(reference: Any, part: Any) -> list[tuple[int, str]]:
    """Return the texts of a diagram with their levels, from 0: each before those that hang on it.

    Args:
        reference: the element `REFERENCE`.
        part: the part that has the element, of python-docx or python-pptx.
    """
    relationship = part.rels.get(reference.get(DATA))
    if relationship is None or relationship.is_external:
        return []
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(relationship.target_part.blob, parser)
    except etree.XMLSyntaxError:
        return []
    return texts_of_data(root)


def texts_of_data(root: Any) -> list[tuple[int, str]]:
    """Return the texts of a diagram's part, as `diagram_texts`, from its outermost element."""
    texts = {point.get("modelId"): _text(point) for point in root.iter(f"{{{_DIAGRAM}}}pt")}
    below: dict[str | None, list[tuple[int, str]]] = {}
    for link in root.iter(f"{{{_DIAGRAM}}}cxn"):
        if link.get("type", "parOf") == "parOf" and (child := link.get("destId")) in texts:
            order = link.get("srcOrd", "0")
            below.setdefault(link.get("srcId"), []).append((int(order) if order.isdecimal() else 0, child))
    starts = [point.get("modelId") for point in root.iter(f"{{{_DIAGRAM}}}pt") if point.get("type") == "doc"]
    found = [(level, key) for start in starts for level, key in _hanging(start, below)]
    reached = {key for _, key in found}
    return [(level, texts[key]) for level, key in found if texts[key]] + [
        (0, text) for key, text in texts.items() if text and key not in reached
    ]


def _hanging(start: str | None, below: dict[str | None, list[tuple[int, str]]]) -> Iterator[tuple[int, str]]:
    """Yield the points below one, depth first, each once: a damaged file may link them in a circle."""
    seen = {start}
    waiting = [(0, key) for _, key in sorted(below.get(start, ()), reverse=True)]
    while waiting:
        level, key = waiting.pop()
        if key in seen:
            continue
        seen.add(key)
        yield level, key
        waiting += [(min(level + 1, _DEEPEST), child) for _, child in sorted(below.get(key, ()), reverse=True)]


def _text(point: Any) -> str:
    """Return the text of a point, its paragraphs joined."""
    paragraphs = point.iter(f"{{{_MAIN}}}p")
    shown = ("".join(text.text or "" for text in paragraph.iter(f"{{{_MAIN}}}t")) for paragraph in paragraphs)
    return " ".join(" ".join(shown).split())
