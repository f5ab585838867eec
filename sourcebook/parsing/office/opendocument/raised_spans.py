"""Raised and lowered words of OpenDocument texts, written as in all formats."""

from typing import Any, Final

from sourcebook.parsing.office.opendocument.opendocument_archive import PARAGRAPHS, qualified, shown_text
from sourcebook.parsing.text.raised_text import LEVEL, LOWERED, RAISED, lowered, raised

_SPAN, _STYLE_NAME = qualified("text:span"), qualified("text:style-name")
_PARENT, _NAME = qualified("style:parent-style-name"), qualified("style:name")
_POSITION: Final = qualified("style:text-position")


def write_raised_spans(root: Any, styles: Any | None) -> None:
    """Write the signs of exponents and notes into the words that a style raises or lowers.

    Args:
        root: root of `content.xml`.
        styles: root of `styles.xml`, where the file has one.
    """
    positions = _positions([each for each in (styles, root) if each is not None])
    for span in root.iter(_SPAN) if any(positions.values()) else ():
        sign = positions.get(span.get(_STYLE_NAME))
        paragraph = next(span.iterancestors(*PARAGRAPHS), None)
        text = shown_text(span)
        if not sign or paragraph is None or not text.strip():
            continue
        first = span.text or ""
        span.text = f"{LEVEL}{first}"
        before, _, rest = shown_text(paragraph).partition(LEVEL)
        shown = raised(text, before=before, after=rest[len(text) :]) if sign == RAISED else lowered(text, before=before)
        opening, _, closing = shown.partition(" ".join(text.split()))
        span.text = f"{opening}{first.lstrip() if opening else first}"
        if closing and len(span):
            span[-1].tail = f"{span[-1].tail or ''}{closing}"
        elif closing:
            span.text += closing


def _positions(roots: list[Any]) -> dict[str | None, str]:
    """Return `RAISED` or `LOWERED` for each style of words that says so, or whose style above it does."""
    styles = {style.get(_NAME): style for root in roots for style in root.iter(qualified("style:style"))}
    found: dict[str | None, str] = {}
    for name, style in styles.items():
        seen = set()
        held: Any | None = style
        while held is not None and held.get(_NAME) not in seen:
            seen.add(held.get(_NAME))
            stated = next((each.get(_POSITION) for each in held.iter(qualified("style:text-properties"))), None)
            if stated is not None:
                found[name] = _sign(stated.split())
                break
            held = styles.get(held.get(_PARENT))
    return found


def _sign(position: list[str]) -> str:
    """Return the mark for a position, such as `super 58%`, `sub 58%` or `33% 58%`; "" for the line itself."""
    place = position[0] if position else ""
    if place in {"super", "sub"}:
        return RAISED if place == "super" else LOWERED
    height = place.removesuffix("%")
    return "" if not height.lstrip("-").isdecimal() or int(height) == 0 else RAISED if int(height) > 0 else LOWERED
