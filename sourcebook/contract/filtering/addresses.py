"""Checks of filters on the address of a document: its host, the ending of its name, and the document itself."""

import re

from sourcebook.contract.filtering.values import list_of, shown, text_of
from sourcebook.errors import QueryError

_HOST = re.compile(r"(?:\*\.)?[\w.-]+", re.ASCII | re.IGNORECASE)
_EXTENSION = re.compile(r"\.?[^./\\\s]+")
_LARGEST_ID = 2**63 - 1


def checked_documents(key: str, value: object) -> tuple[list[int], list[str]]:
    """Return the ids, and the URIs or ends of paths, that name documents.

    Raises:
        QueryError: a value is neither a positive number nor a text.
    """
    allowed = "an id, a URI or the end of a path, or a list of them"
    single = isinstance(value, (str, int)) and not isinstance(value, bool)
    ids: list[int] = []
    uris: list[str] = []
    for each in (value,) if single else list_of(key, value, allowed):
        number = _id(each)
        if number is not None:
            ids.append(number)
        else:
            uris.append(text_of(key, each, allowed=allowed))
    return ids, uris


def _id(value: object) -> int | None:
    """Return the id that a number, or a text of digits, is; None for other values."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) <= len(str(_LARGEST_ID))):
        return None
    return int(value) if 0 < int(value) <= _LARGEST_ID else None


def checked_domain(key: str, value: object) -> str:
    """Return the name of a host in lower case, without `*.` and `www.`."""
    allowed = "the name of a host such as example.org, without scheme and path"
    text = text_of(key, value, allowed=allowed)
    if not _HOST.fullmatch(text):
        raise QueryError(f"the filter {key} has {shown(text)}; it must be {allowed}")
    return text.lower().removeprefix("*.").removeprefix("www.")


def checked_extension(key: str, value: object) -> str:
    """Return the ending of a name in lower case, without its dot."""
    allowed = "the ending of a file's name such as md"
    text = text_of(key, value, allowed=allowed)
    if not _EXTENSION.fullmatch(text):
        raise QueryError(f"the filter {key} has {shown(text)}; it must be {allowed}")
    return text.lower().removeprefix(".")
