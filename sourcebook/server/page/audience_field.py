"""The field of a form that says who may see documents: principals, or a line for each pattern of paths."""

from collections.abc import Mapping
from typing import Any, Final

_NOBODY: Final = "nobody"
"""Word for an empty list: an empty field means that nothing is said, and then everyone sees them."""


def shown_audience(value: Any) -> str:
    """Return those who see documents with commas between; one line a pattern where patterns decide."""
    if isinstance(value, str):
        return value
    pairs = [value] if isinstance(value, Mapping) else [each for each in value if isinstance(each, Mapping)]
    if pairs:
        return "\n".join(f"{pattern}: {_shown(held)}" for each in pairs for pattern, held in each.items())
    return _shown(value)


def read_audience(text: str) -> Any:
    """Return a list of principals, or of mappings from a pattern to such a list, in their order.

    One word that names no principal stays a text, as `posix` or the field of a record does; so do lines of which some
    have a pattern: settings refuse them.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    pairs = [{pattern.strip(): _read(held)} for pattern, colon, held in map(_parted, lines) if colon]
    if pairs:
        return text if len(pairs) < len(lines) else pairs[0] if len(pairs) == 1 else pairs
    found = _read(", ".join(lines))
    is_word = len(found) == 1 and ":" not in found[0] and found[0].lower() != "everyone"
    return found[0] if is_word else found


def principals_in(text: str) -> list[str]:
    """Return the principals between the commas of a field."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _parted(line: str) -> tuple[str, str, str]:
    """Return pattern and principals of a line: a space follows the colon between them, and none that of a principal."""
    return (line[:-1], ":", "") if line.endswith(":") else line.partition(": ")


def _shown(held: Any) -> str:
    return ", ".join(map(str, held)) if isinstance(held, list | tuple) and held else _NOBODY if not held else str(held)


def _read(text: str) -> list[str]:
    found = principals_in(text)
    return [] if found == [_NOBODY] else found
