"""Filters of a search: conditions on the documents that its passages come from, as checked values."""

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Final, Literal, TypeAlias, get_args

from sourcebook.contract.filtering.addresses import checked_documents, checked_domain, checked_extension
from sourcebook.contract.filtering.metadata import metadata_tests
from sourcebook.contract.filtering.periods import period_of
from sourcebook.contract.filtering.values import shown, text_of, texts_of
from sourcebook.errors import QueryError
from sourcebook.model.media_types import media_type_of_name

Kind = Literal["file", "page", "recording"]
Texts: TypeAlias = Sequence[str] | frozenset[str] | set[str] | str
"""One text or several."""
Dates: TypeAlias = dt.date | str | Mapping[str, dt.date | str]
"""A date, or a range with `gte`, `gt`, `lte` and `lt`. A year, month or day stands for all of it."""
MetadataKey: TypeAlias = str | tuple[str, ...]
"""A key, or a tuple of keys for a key within another key's mapping."""

_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:[a-z0-9!#$&^_.+-]+|\*)", re.IGNORECASE)
_FAMILIES = frozenset({"audio", "image", "text", "video"})
"""Families of media types that stand for all of their types."""
_LANGUAGE = re.compile(r"[a-z]{2,3}", re.IGNORECASE)
_SINGULAR = {
    "source": "sources",
    "kind": "kinds",
    "type": "types",
    "media_type": "media_types",
    "tag": "tags_any",
    "tags": "tags_any",
    "language": "languages",
    "document": "documents",
    "domain": "domains",
    "extension": "extensions",
    "path": "paths",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Conditions on the documents of found passages; every given one must hold, None sets no condition.

    Raises:
        QueryError: a value is of the wrong type, empty, too long or impossible; the error names it and what is allowed.
    """

    sources: Texts | None = None
    """Folders or sites, as the configuration names them or by absolute path or URL."""
    kinds: Texts | None = None
    """`file`, `page` or `recording`."""
    types: Texts | None = None
    """Types of documents, such as `adr`; see `types` in the configuration."""
    media_types: Texts | None = None
    """Media types such as `application/pdf` or the ending `pdf`; `image/*` or `image` is every image."""
    tags_any: Texts | None = None
    """Tags; the document has at least one of them."""
    tags_all: Texts | None = None
    """Tags; the document has all of them."""
    languages: Texts | None = None
    """ISO 639-1 codes, such as `de`."""
    uri_prefix: str | None = None
    """Beginning of the document's URI, letter by letter: `%` and `_` stand for themselves."""
    documents: Sequence[str | int] | str | int | None = None
    """Documents by id, URI or the end of their path, such as `policies/leave.md`."""
    domains: Texts | None = None
    """Hosts, such as `example.org`, with the hosts below them; `www.` is left out."""
    extensions: Texts | None = None
    """Endings of names, such as `md`, in any case."""
    paths: Texts | None = None
    """Patterns for the end of a path: `policies/*.md`; `policies/` is everything below such a folder."""
    date: Dates | None = None
    """The document's own date from its metadata; documents without a date are left out."""
    added: Dates | None = None
    """Time at which the document was first ingested."""
    changed: Dates | None = None
    """Time at which the document was last changed, removed or restored."""
    metadata: Mapping[MetadataKey, Any] | Sequence[tuple[MetadataKey, Any]] | None = None
    """By key: a value, a list of alternative values, a range `{"gte": …, "lt": …}`, or `{"exists": …}`. In JSON, a list
    of pairs `[["key", "within"], value]` names keys within keys."""

    def __post_init__(self) -> None:
        """Check every value now, where the caller sees the error."""
        for _ in self.values():
            pass

    def values(self) -> Iterator[tuple[str, Any]]:
        """Yield the given filters as (name, value), each value as its check returns it."""
        for name, check in _CHECKS.items():
            value = getattr(self, name)
            if value is not None:
                yield name, check(name, value)

    def as_json(self) -> dict[str, Any]:
        """Return the given filters as plain values; a date in them is ISO 8601.

        Raises:
            QueryError: metadata are compared with a list of dates, which JSON does not tell from texts.
        """
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        values = {name: _plain(value) for name, value in given.items() if value is not None and name != "metadata"}
        if self.metadata is not None:
            pairs = self.metadata.items() if isinstance(self.metadata, Mapping) else self.metadata
            values["metadata"] = [
                [list(key) if isinstance(key, tuple) else key, _wanted(value)] for key, value in pairs
            ]
        return values

    @classmethod
    def checked(cls, value: "Filters | Mapping[str, Any] | None") -> "Filters | None":
        """Return filters from `Filters` or from a mapping such as `{"kind": "page", "tags": ["policy"]}`.

        Raises:
            QueryError: a key is unknown, or a value is not allowed.
        """
        if value is None or isinstance(value, Filters):
            return value
        if not isinstance(value, Mapping):
            raise QueryError(f"the filters are {shown(value)}; they must be Filters or a mapping")
        given: dict[str, Any] = {}
        typed: dict[str, str] = {}
        for key, wanted in value.items():
            name = _SINGULAR.get(key, key)
            if name not in FILTER_NAMES:
                raise QueryError(
                    f"there is no filter {shown(key)}; there is {', '.join((*FILTER_NAMES, *_SINGULAR))}. "
                    "Keys of a document's metadata stand below metadata"
                )
            if name in given:
                raise QueryError(f"the filter {name} is given twice, once as {key}")
            given[name] = wanted
            typed[name] = str(key)
        try:
            return cls(**given)
        except QueryError as error:
            raise QueryError(_as_typed(str(error), typed)) from None


def _as_typed(message: str, typed: Mapping[str, str]) -> str:
    """Return an error with the name of the filter as the caller wrote it: `kind` instead of `kinds`."""
    match = re.match(r"the filter (\w+)\b", message)
    if match is None or match[1] not in typed:
        return message
    return f"the filter {typed[match[1]]}{message[match.end() :]}"


FILTER_NAMES = tuple(each.name for each in fields(Filters))
"""Names of all filters."""


def _kind(key: str, value: object) -> str:
    if value not in get_args(Kind):
        raise QueryError(f"the filter {key} has {shown(value)}; it may have {', '.join(get_args(Kind))}")
    return str(value)


def _media_type(key: str, value: object) -> str:
    allowed = "a media type such as application/pdf, image/* for all of a family, or a file's ending such as pdf"
    text = text_of(key, value, allowed=allowed)
    if "/" not in text:
        short = text.lower().removeprefix(".")
        known = f"{short}/*" if short in _FAMILIES else media_type_of_name(f"document.{short}")
        text = known or text
    if not _MEDIA_TYPE.fullmatch(text):
        raise QueryError(f"the filter {key} has {shown(text)}; it must be {allowed}")
    return text.lower()


def _language(key: str, value: object) -> str:
    allowed = "a code of ISO 639-1 such as en or de"
    text = text_of(key, value, allowed=allowed)
    if not _LANGUAGE.fullmatch(text):
        raise QueryError(f"the filter {key} has {shown(text)}; it must be {allowed}")
    return text.lower()


_CHECKS: Final[Mapping[str, Callable[[str, object], Any]]] = {
    "sources": texts_of,
    "kinds": partial(texts_of, check=_kind),
    "types": texts_of,
    "media_types": partial(texts_of, check=_media_type),
    "tags_any": texts_of,
    "tags_all": texts_of,
    "languages": partial(texts_of, check=_language),
    "uri_prefix": text_of,
    "documents": checked_documents,
    "domains": partial(texts_of, check=checked_domain),
    "extensions": partial(texts_of, check=checked_extension),
    "paths": texts_of,
    "date": period_of,
    "added": period_of,
    "changed": period_of,
    "metadata": metadata_tests,
}
"""Check of each filter; it returns the value as conditions are made of it."""


def _wanted(value: Any) -> Any:
    """Return a condition on metadata; the period of a date as a range, as a text would be compared letter by letter."""
    if isinstance(value, dt.date):
        return {"gte": _plain(value), "lte": _plain(value)}
    values = list(value.values()) if isinstance(value, Mapping) else [value]
    if isinstance(value, Mapping) and isinstance(value.get("eq"), dt.date):
        if len(value) > 1:
            raise QueryError(
                "a date that metadata must equal, and further conditions on it, cannot be sent to a server"
            )
        return _wanted(value["eq"])
    if any(isinstance(part, dt.date) for each in values if isinstance(each, list | tuple | set) for part in each):
        raise QueryError("a list of dates cannot be sent to a server: give a range, such as {'gte': …, 'lte': …}")
    return _plain(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it."""
    match value:
        case dt.datetime():
            return (value if value.tzinfo is None else value.astimezone(dt.UTC)).isoformat()
        case dt.date():
            return value.isoformat()
        case Mapping():
            return {key: _plain(held) for key, held in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(held) for held in value]
    return value
