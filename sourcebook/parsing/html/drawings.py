"""Text that a page shows in drawings (inline SVG), and formulas that a script draws."""

from typing import Final

from sourcebook.parsing.html.boilerplate import is_hidden
from sourcebook.parsing.html.tree import Element, drop, plain_text, replace_content

_TEXTS: Final = ("text", "foreignobject", "foreignObject")
_UNSEEN: Final = ("defs", "symbol", "a", "button", "nav")
"""Elements whose drawings are parts of others, or signs on controls."""
_IN_LINES: Final = frozenset(
    {"p", "span", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "label", "strong", "em", "b", "i"}
)
"""Elements in which a drawing stands between words."""
_POSITIONS: Final = ("x", "y", "dy")
DRAWN: Final = "data-drawn"
"""Attribute of an element whose words are those of a drawing."""


def show_drawings(tree: Element) -> None:
    """Replace each drawing with words by a paragraph of them; numbers alone, as those of an axis, are no words."""
    for drawing in list(tree.iter("svg")):
        if is_hidden(dict(drawing.items())) or next(drawing.iterancestors("svg", *_UNSEEN), None) is not None:
            continue
        texts = (_words(each) for each in drawing.iter(*_TEXTS) if not _is_part(each))
        if words := "; ".join(text for text in dict.fromkeys(texts) if any(map(str.isalpha, text))):
            parent = drawing.getparent()
            is_in_line = parent is not None and parent.tag in _IN_LINES
            replace_content(drawing, f" {words} " if is_in_line else words)
            drawing.tag = "span" if is_in_line else "p"
            drawing.set(DRAWN, "")


def show_formulas(tree: Element) -> None:
    """Show the TeX source of formulas that MathJax draws in place of their script, and not what it has drawn."""
    for script in list(tree.iter("script")):
        kind = (script.get("type") or "").lower()
        if not kind.startswith("math/tex"):
            continue
        while (drawn := script.getprevious()) is not None and (drawn.get("class") or "").startswith("MathJax"):
            drop(drawn)
        mark = "$$" if "mode=display" in kind.replace(" ", "") else "$"
        source = " ".join((script.text or "").split())
        replace_content(script, f"{mark}{source}{mark}" if source else "")
        script.tag = "span"


def _is_part(text: Element) -> bool:
    """Return whether a text is in another one, or not shown."""
    return next(text.iterancestors(*_TEXTS, "defs", "symbol"), None) is not None


def _words(text: Element) -> str:
    """Return a text, with a space where a line of it begins."""
    if text.tag == "text" and not any(part.get(name) for part in text.iter("tspan") for name in _POSITIONS):
        return plain_text(text)
    return " ".join(" ".join(text.itertext()).split())
