"""The type of a document, by its front matter or its path, and the metadata fields that it promises and lacks."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from sourcebook.config.document_types import DocumentType

_SEPARATORS: Final = re.compile(r"[\s_]+")
_PART: Final = re.compile(r"\*\*/|\*\*|\*|\?|\{[^{}]*\}|.", re.DOTALL)


def type_of(
    uri: str, root: str, metadata: Mapping[str, Any], types: Mapping[str, DocumentType]
) -> tuple[str | None, list[str]]:
    """Return the type of a document, None where it has none, and the promised fields that it lacks.

    Args:
        uri: URI of the document.
        root: URI of the folder of its source; paths are relative to it.
        metadata: its metadata; `type` names a type, whatever the path is.
        types: the types by their names; of several whose paths match, the first one counts.
    """
    named = next((value for key, value in metadata.items() if key.casefold() == "type"), None)
    written = _normal(named) if isinstance(named, str) else ""
    name = next((each for each in types if _normal(each) == written), "")
    if not name:
        path = _path_below(uri, root)
        name = next((each for each, kind in types.items() if any(_matches(glob, path) for glob in kind.paths)), "")
    if not name:
        return None, []
    return name, [field for field in types[name].fields if _is_missing(metadata, field)]


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name.strip().casefold())


def _is_missing(metadata: Mapping[str, Any], field: str) -> bool:
    held = {key.casefold(): value for key, value in metadata.items()}
    value = held.get(field.casefold())
    return (value.strip() if isinstance(value, str) else value) in (None, "", [], {})


def _path_below(uri: str, root: str) -> str:
    decoded, folder = unquote(uri), unquote(root).rstrip("/") + "/"
    if decoded.startswith(folder):
        return decoded.removeprefix(folder)
    return decoded.partition("://")[2].partition("/")[2]


def _matches(glob: str, path: str) -> bool:
    return _expression(glob).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _expression(glob: str) -> re.Pattern[str]:
    """Return a pattern such as `adr/**/*.{md,rst}` as a regular expression."""
    return re.compile("".join(map(_translated, _PART.findall(glob))), re.DOTALL)


def _translated(part: str) -> str:
    match part:
        case "**/":
            return "(?:[^/]*/)*"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if part.startswith("{"):
            return f"(?:{'|'.join(map(re.escape, part[1:-1].split(',')))})"
        case _:
            return re.escape(part)
