"""A result for people: as text for `print`, and as HTML for a notebook."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Protocol
from urllib.parse import urlsplit

from sourcebook.model.place import media_fragment, place_words

_LINKED = frozenset({"http", "https", "file"})
"""Schemes of the addresses that become links."""

_KEPT = frozenset("\n\t\u00a0\u2002\u2003\u2009\u202f\u3000")
"""White space that is no printable character for Python, and harmless."""


class Shown(Protocol):
    """The fields of a result that people see."""

    # fmt: off
    @property
    def title(self) -> str: ...
    @property
    def uri(self) -> str: ...
    @property
    def link(self) -> str | None: ...
    @property
    def collection(self) -> str: ...
    @property
    def heading_path(self) -> tuple[str, ...]: ...
    @property
    def anchor(self) -> str | None: ...
    @property
    def page(self) -> int | None: ...
    @property
    def start_seconds(self) -> float | None: ...
    @property
    def end_seconds(self) -> float | None: ...
    @property
    def time_span(self) -> str | None: ...
    @property
    def text(self) -> str: ...
    @property
    def highlights(self) -> tuple[tuple[int, int], ...]: ...
    # fmt: on


def as_text(result: Shown) -> str:
    """Return title, place and passage of a result on lines of their own, without control characters."""
    return "\n".join(printable(line) for line in (result.title or result.uri, _place(result), "", result.text.strip()))


def as_html(result: Shown) -> str:
    """Return title, place and passage of a result as HTML, its highlights marked; all from the document is escaped."""
    title = escape(printable(result.title or result.uri))
    address = result.link or result.uri
    fragment = result.anchor or media_fragment(result.start_seconds, result.end_seconds)
    if urlsplit(address).scheme.lower() in _LINKED:
        target = f"{address}#{fragment}" if fragment else address
        title = f'<a href="{escape(target)}" target="_blank" rel="noopener noreferrer">{title}</a>'
    return (
        f"<div><strong>{title}</strong><br><small>{escape(printable(_place(result)))}</small>"
        f'<div style="white-space: pre-wrap; margin: .3em 0 1em">{_marked(result.text, result.highlights)}</div></div>'
    )


def all_as_html(results: Iterable[Shown], notes: Iterable[str], why_empty: str) -> str:
    """Return the results of a search as a numbered list, or why there are none, with its notes below."""
    items = "".join(f"<li>{as_html(result)}</li>" for result in results)
    below = "".join(f"<p><small>{escape(printable(note))}</small></p>" for note in notes)
    return f"<ol>{items}</ol>{below}" if items else f"<p>{escape(why_empty)}</p>{below}"


def _place(result: Shown) -> str:
    """Return where a passage stands: headings, page or time, address and collection."""
    return " · ".join((*place_words(result, result.title), result.uri, result.collection))


def _marked(text: str, highlights: Sequence[tuple[int, int]]) -> str:
    """Return an escaped text with marks around ranges."""
    pieces, done = [], 0
    for start, end in highlights:
        pieces += [escape(printable(text[done:start])), f"<mark>{escape(printable(text[start:end]))}</mark>"]
        done = end
    return "".join([*pieces, escape(printable(text[done:]))])


def printable(text: str) -> str:
    """Return a text without control characters and marks that reorder text; line ends and tabs stay."""
    return "".join(letter for letter in text if letter.isprintable() or letter in _KEPT)
