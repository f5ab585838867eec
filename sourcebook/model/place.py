"""The place of a passage in its document: in words, as lines or times, and as an address that leads there."""

import re
from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any, Final, Protocol

from sourcebook.model.page_labels import page_words

_LINES: Final = re.compile(r"L(\d+)-L(\d+)")
_FIRST_LINE: Final = re.compile(r"L(\d+)")


class Place(Protocol):
    """The fields that say where a passage stands."""

    # fmt: off
    @property
    def heading_path(self) -> Sequence[str]: ...
    @property
    def anchor(self) -> str | None: ...
    @property
    def page(self) -> int | None: ...
    @property
    def start_seconds(self) -> float | None: ...
    @property
    def end_seconds(self) -> float | None: ...
    # fmt: on


def place_words(place: Place, title: str, metadata: Mapping[str, Any]) -> list[str]:
    """Return headings without the title of the document, lines, page and time span, as far as there are any.

    Args:
        place: the place.
        title: title of its document.
        metadata: metadata of its document, which may have the labels of its pages.
    """
    headings = " › ".join(heading for heading in place.heading_path if heading != title)
    lines, page = line_words(place.anchor), page_words(place.page, metadata)
    return [part for part in (headings, lines, page, time_span(place.start_seconds, place.end_seconds)) if part]


def address_of(uri: str, place: Place, *, with_page: bool = True) -> str:
    """Return an address that leads to a place: with its time span, its page, its lines or its anchor, as it has one.

    Lines are written as the web view of the address does: `#L10-L42`, in GitLab `#L10-42`, in Bitbucket `#lines-10:42`.

    A fragment that the address has already is replaced, unless it is a route of the page's own scripts (`#/`, `#!`),
    whose part has the name `?id=`.
    """
    fragment = media_fragment(place.start_seconds, place.end_seconds)
    if fragment is None and place.page is not None and with_page:
        fragment = f"page={place.page}"
    fragment = fragment or _line_fragment(uri, place.anchor) or place.anchor
    bare, _, own = uri.partition("#")
    if own.startswith(("/", "!")):
        return f"{uri}?id={fragment}" if fragment and "?" not in own else uri
    return f"{bare}#{fragment}" if fragment else uri


def line_anchor(first: int, last: int) -> str:
    """Return the anchor of a passage of a text file from its first to its last line, counted from 1: `L10-L42`."""
    return f"L{first}-L{last}"


def joined_lines(first: str | None, last: str | None) -> str | None:
    """Return the anchor from the first line of one anchor to the last one of another; the first where one has none."""
    begin, end = lines_of(first), lines_of(last)
    return line_anchor(begin[0], end[1]) if begin and end else first


def first_line(anchor: str | None) -> int | None:
    """Return the line of the file at which a block begins (`L10`); None for an anchor of another kind."""
    found = _FIRST_LINE.fullmatch(anchor or "")
    return int(found[1]) if found else None


def lines_of(anchor: str | None) -> tuple[int, int] | None:
    """Return the first and the last line of the file that a passage's anchor names; None for other anchors."""
    found = _LINES.fullmatch(anchor or "")
    return (int(found[1]), int(found[2])) if found else None


def line_words(anchor: str | None) -> str:
    """Return the lines of an anchor in words, `lines 10–42` or `line 10`; "" for other anchors."""
    match lines_of(anchor):
        case None:
            return ""
        case first, last:
            return f"line {first}" if first == last else f"lines {first}–{last}"


def _line_fragment(uri: str, anchor: str | None) -> str:
    found = lines_of(anchor)
    if found is None:
        return ""
    first, last = found
    if uri.startswith("https://bitbucket.org/"):
        return f"lines-{first}" if first == last else f"lines-{first}:{last}"
    if first == last:
        return f"L{first}"
    is_short = "/-/blob/" in uri or uri.startswith("https://git.sr.ht/")
    return f"L{first}-{last}" if is_short else f"L{first}-L{last}"


def stamp(seconds: float) -> str:
    """Return a time in clock notation, truncated to whole seconds: `12:30`, from one hour on `1:02:30`."""
    minutes, second = divmod(floor(_milliseconds(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def time_span(start: float | None, end: float | None) -> str | None:
    """Return a time span in clock notation, `12:30–14:15`; None without times.

    Both times are truncated, so that a passage ends at the time at which the next one begins.
    """
    return None if start is None or end is None else f"{stamp(start)}–{stamp(end)}"


def media_fragment(start: float | None, end: float | None) -> str | None:
    """Return the URI fragment of a time span: `t=750,855` (W3C Media Fragments 1.0).

    The fragment covers the span in whole seconds, at least one: players ignore an empty span.
    """
    if start is None or end is None:
        return None
    begin = floor(_milliseconds(start))
    return f"t={begin},{max(ceil(_milliseconds(end)), begin + 1)}"


def _milliseconds(seconds: float) -> float:
    """Return seconds rounded to milliseconds, so that 855.0000000001 is not in the next second."""
    return round(seconds, 3)
