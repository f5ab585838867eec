"""The kinds of text and number that settings are made of."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,62}")
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,3})?)\s*(b|[kmgt]i?b)?", re.IGNORECASE)
_UNITS = {prefix: number for number, prefix in enumerate("bkmgt")}

NAME_RULE = "1 to 63 letters, digits, `_`, `-` or single dots, beginning with a letter or digit"


def _collection_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise PydanticCustomError("collection_name", "a collection's name is {rule}", {"rule": NAME_RULE})
    return name


def _byte_count(size: Any) -> Any:
    """Read `100MB` or `1.5 GiB`; what is no size goes through and is refused as a number."""
    parts = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if parts is None:
        return size
    unit = (parts[2] or "b").lower()
    return int(float(parts[1]) * (1024 if "i" in unit else 1000) ** _UNITS[unit[0]])


def _pattern(pattern: str) -> str:
    """Bring `./drafts/` to the form that paths are compared with, `drafts/**`."""
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise PydanticCustomError("pattern", "a pattern is relative to the root, without `/` in front or `..` in it")
    pattern = pattern.removeprefix("./")
    return f"{pattern}**" if pattern.endswith("/") or not pattern else pattern


def _without_repetition(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


CollectionName = Annotated[str, AfterValidator(_collection_name)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096)]
Pattern = Annotated[Text, AfterValidator(_pattern)]
Words = Annotated[tuple[Text, ...], AfterValidator(_without_repetition)]
ByteCount = Annotated[int, BeforeValidator(_byte_count), Field(strict=True, ge=1, le=1024**4)]
