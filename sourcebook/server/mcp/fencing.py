"""Answers whose texts a model can tell from the frame: each text of a document, a title or an error made harmless.

What comes from documents stands in strings of JSON. Invisible characters and such that turn the direction of a text are
taken out, and what looks like a tag, a role or the turn of a speaker gets a backslash, as in a context.
"""

from collections.abc import Collection
from typing import Any, Final

from sourcebook.context.fence import harmless, one_line, safe_address

_LINES: Final = frozenset({"title", "heading_path", "tags", "name", "page_label", "written"})
"""Fields whose texts are one line."""
_ADDRESSES: Final = frozenset({"uri", "url", "link"})
_LONGEST_LINE: Final = 1_000
_LONGEST_ADDRESS: Final = 4_000


def fenced(value: Any, done: Collection[str] = (), field: str = "") -> Any:
    """Return plain values with every text harmless, keys of mappings among them.

    Args:
        value: what JSON holds.
        done: fields whose texts are harmless already.
        field: name of the field that has it.
    """
    if field in done:
        return value
    if isinstance(value, str):
        return _text(value, field)
    if isinstance(value, list):
        return [fenced(each, done, field) for each in value]
    if isinstance(value, dict):
        return {_text(name, "title"): fenced(each, done, name) for name, each in value.items()}
    return value


def _text(text: str, field: str) -> str:
    if field in _ADDRESSES:
        return safe_address(text, _LONGEST_ADDRESS)
    return one_line(text, _LONGEST_LINE) if field in _LINES else harmless(text).text
