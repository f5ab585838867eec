"""Raised and lowered words of OpenDocument texts, written as in all formats."""

from itertools import groupby, zip_longest
from operator import itemgetter
from typing import Any, Final

from sourcebook.parsing.office.opendocument.opendocument_archive import PARAGRAPHS, qualified, shown_text
from sourcebook.parsing.text.raised_text import LEVEL, LOWERED, RAISED, shown_parts

_SPAN, _STYLE_NAME = qualified("text:span"), qualified("text:style-name")
_PARENT, _NAME = qualified("style:parent-style-name"), qualified("style:name")
_MARKS: Final = f"{RAISED}{LOWERED}{LEVEL}"
_POSITION: Final = qualified("style:text-position")


def write_raised_spans(root: Any, styles: Any | None) -> None:
    """Write the signs of exponents and notes into the words that a style raises or lowers.

    Args:
        root: root of `content.xml`.
        styles: root of `styles.xml`, where the file has one.
    """
    positions = _positions([each for each in (styles, root) if each is not None])
    spans = [span for span in root.iter(_SPAN) if positions.get(span.get(_STYLE_NAME)) and shown_text(span).strip()]
    nearest = ((next(span.iterancestors(*PARAGRAPHS), None), span) for span in spans)
    for paragraph, group in groupby(nearest, key=itemgetter(0)):
        held = [span for _, span in group]
        texts = [shown_text(span) for span in held]
        for span in held:
            _wrap(span, positions[span.get(_STYLE_NAME)], LEVEL)
        shown = [] if paragraph is None else shown_parts(shown_text(paragraph))
        for span, text, part in zip_longest(held, texts, shown, fillvalue=""):
            opening, _, closing = part.partition(" ".join(text.split()))
            _wrap(span, opening, closing)


def _wrap(span: Any, opening: str, closing: str) -> None:
    """Write a text before the words of a span, and one behind them, in the place of marks."""
    span.text = f"{opening}{(span.text or '').strip(_MARKS)}"
    if len(span):
        span[-1].tail = f"{(span[-1].tail or '').rstrip(_MARKS)}{closing}"
    else:
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
