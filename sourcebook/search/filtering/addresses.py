"""Filters on the address of a document: its host, the ending of its name, its path, and the document itself."""

import re

from sourcebook.errors import QueryError
from sourcebook.search.filtering.document_conditions import AnyOf, DocumentCondition
from sourcebook.search.filtering.values import list_of, shown, text_of, texts_of

_HOST = re.compile(r"(?:\*\.)?[\w.-]+", re.ASCII | re.IGNORECASE)
_EXTENSION = re.compile(r"\.?[^./\\\s]+")
_LARGEST_ID = 2**63 - 1


def on_documents(key: str, value: object) -> AnyOf:
    """Return the condition that a document is one of some: by id, by URI, or by the end of its path.

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
    conditions = (
        DocumentCondition("filter_document_ids", {"value": ids}),
        DocumentCondition("filter_document_uris", {"value": uris}),
    )
    return AnyOf(tuple(condition for condition in conditions if condition.values["value"]))


def on_domains(key: str, value: object) -> DocumentCondition:
    """Return the condition that a document is from one of some hosts, or from a host below one of them.

    Raises:
        QueryError: a value is not the name of a host.
    """
    return DocumentCondition("filter_domains", {"value": list(texts_of(key, value, _domain))})


def on_extensions(key: str, value: object) -> DocumentCondition:
    """Return the condition that the name of a document has one of some endings, whatever the letters' case.

    Raises:
        QueryError: a value is not an ending.
    """
    return DocumentCondition("filter_extensions", {"value": list(texts_of(key, value, _extension))})


def on_paths(key: str, value: object) -> DocumentCondition:
    """Return the condition that the path of a document ends like one of some patterns.

    `*` is any part of a name, `?` any letter of it, and `**` any number of folders; a pattern that ends with a slash is
    everything below the folder.

    Raises:
        QueryError: a value is not a text.
    """
    return DocumentCondition("filter_paths", {"value": [_path_pattern(text) for text in texts_of(key, value)]})


def _id(value: object) -> int | None:
    """Return the id that a number, or a text of digits, is; None for other values."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) <= len(str(_LARGEST_ID))):
        return None
    return int(value) if 0 < int(value) <= _LARGEST_ID else None


def _domain(key: str, value: object) -> str:
    allowed = "the name of a host such as example.org, without scheme and path"
    text = text_of(key, value, allowed=allowed)
    if not _HOST.fullmatch(text):
        raise QueryError(f"the filter {key} has {shown(text)}; it must be {allowed}")
    return text.lower().removeprefix("*.").removeprefix("www.")


def _extension(key: str, value: object) -> str:
    allowed = "the ending of a file's name such as md"
    text = text_of(key, value, allowed=allowed)
    if not _EXTENSION.fullmatch(text):
        raise QueryError(f"the filter {key} has {shown(text)}; it must be {allowed}")
    return text.lower().removeprefix(".")


def _path_pattern(pattern: str) -> str:
    """Return a regular expression of PostgreSQL for the end of a path."""
    pattern = pattern.removeprefix("./").lstrip("/")
    if pattern.endswith("/"):
        pattern += "**"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "(?:^|/)" + "".join(meanings.get(part, re.sub(r"(\W)", r"\\\1", part)) for part in parts) + "$"
