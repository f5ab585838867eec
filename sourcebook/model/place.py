"""The place of a passage in its document: in words, and as an address that leads there."""

from collections.abc import Sequence
from typing import Protocol

from sourcebook.model.time_span import media_fragment, time_span


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


def place_words(place: Place, title: str) -> list[str]:
    """Return headings without the title of the document, page and time span, as far as there are any."""
    headings = " › ".join(heading for heading in place.heading_path if heading != title)
    page = f"page {place.page}" if place.page is not None else ""
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
