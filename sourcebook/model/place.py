"""The place of a passage in its document: in words, as times, and as an address that leads there."""

from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any, Protocol

from sourcebook.model.page_labels import page_words


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
    """Return headings without the title of the document, page and time span, as far as there are any.

    Args:
        place: the place.
        title: title of its document.
        metadata: metadata of its document, which may have the labels of its pages.
    """
    headings = " › ".join(heading for heading in place.heading_path if heading != title)
    page = page_words(place.page, metadata)
    return [part for part in (headings, page, time_span(place.start_seconds, place.end_seconds)) if part]


def address_of(uri: str, place: Place) -> str:
    """Return an address that leads to a place: with its time span, its page or its anchor, as far as there is one.

    A fragment that the address has already is replaced, unless it is a route of the page's own scripts (`#/`, `#!`).
    """
    fragment = media_fragment(place.start_seconds, place.end_seconds)
    if fragment is None and place.page is not None:
        fragment = f"page={place.page}"
    fragment = fragment or place.anchor
    bare, _, own = uri.partition("#")
    return f"{bare}#{fragment}" if fragment and not own.startswith(("/", "!")) else uri


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
