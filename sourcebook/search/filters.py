"""Filters of a search: conditions on the documents that its passages come from."""

import datetime as dt
import os.path
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args

from pydantic import ValidationError

from sourcebook.config.git_types import repository_uri
from sourcebook.config.sites import SiteSource
from sourcebook.errors import QueryError
from sourcebook.model.media_types import media_type_of_name
from sourcebook.search.filtering.addresses import on_documents, on_domains, on_extensions, on_paths
from sourcebook.search.filtering.document_conditions import AnyOf, DocumentCondition, condition_on_entries
from sourcebook.search.filtering.metadata import metadata_conditions
from sourcebook.search.filtering.periods import period_of
from sourcebook.search.filtering.values import shown, text_of, texts_of
from sourcebook.search.search_scope import EntryCondition

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
    _conditions: tuple[DocumentCondition | AnyOf, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check every value now, where the caller sees the error."""
        object.__setattr__(self, "_conditions", tuple(self._document_conditions()))

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

    def condition(self) -> EntryCondition | None:
        """Return the condition on entries of the index; None where no filter is given."""
        return condition_on_entries(self._conditions) if self._conditions else None

    def _document_conditions(self) -> Iterator[DocumentCondition | AnyOf]:
        if self.sources is not None:
            yield DocumentCondition("filter_sources", {"value": _possible_locations(texts_of("sources", self.sources))})
        if self.kinds is not None:
            yield DocumentCondition("filter_kinds", {"value": list(texts_of("kinds", self.kinds, _kind))})
        if self.types is not None:
            yield DocumentCondition("filter_types", {"value": list(texts_of("types", self.types))})
        if self.media_types is not None:
            yield _media_types(texts_of("media_types", self.media_types, _media_type))
        if self.tags_any is not None:
            yield DocumentCondition("filter_tags_any", {"value": list(texts_of("tags_any", self.tags_any))})
        if self.tags_all is not None:
            yield DocumentCondition("filter_tags_all", {"value": list(texts_of("tags_all", self.tags_all))})
        if self.languages is not None:
            yield DocumentCondition(
                "filter_languages", {"value": list(texts_of("languages", self.languages, _language))}
            )
        if self.uri_prefix is not None:
            yield DocumentCondition("filter_uri_prefix", {"value": text_of("uri_prefix", self.uri_prefix)})
        if self.documents is not None:
            yield on_documents("documents", self.documents)
        if self.domains is not None:
            yield on_domains("domains", self.domains)
        if self.extensions is not None:
            yield on_extensions("extensions", self.extensions)
        if self.paths is not None:
            yield on_paths("paths", self.paths)
        if self.date is not None:
            yield from _period("date", self.date, "filter_date_from", "filter_date_until")
        if self.added is not None:
            yield from _period("added", self.added, "filter_added_from", "filter_added_until")
        if self.changed is not None:
            yield from _period("changed", self.changed, "filter_changed_from", "filter_changed_until")
        if self.metadata is not None:
            yield from metadata_conditions(self.metadata)


def _as_typed(message: str, typed: Mapping[str, str]) -> str:
    """Return an error with the name of the filter as the caller wrote it: `kind` instead of `kinds`."""
    match = re.match(r"the filter (\w+)\b", message)
    if match is None or match[1] not in typed:
        return message
    return f"the filter {typed[match[1]]}{message[match.end() :]}"


FILTER_NAMES = tuple(each.name for each in fields(Filters) if each.init)
"""Names of all filters."""


def _possible_locations(names: Iterable[str]) -> list[str]:
    """Return the locations that the database may hold for sources of these names.

    A path stands for itself and for its absolute path, links resolved; a URL for itself and for its normal form.
    """
    return list(dict.fromkeys(location for name in names for location in _spellings(name)))


def _spellings(name: str) -> Iterable[str]:
    bare = name.rstrip("/")
    yield from (name, bare, f"{bare}/", repository_uri(name))
    if "://" not in name or name.startswith("file://"):
        yield os.path.realpath(os.path.expanduser(name.removeprefix("file://")))  # noqa: PTH111 - never raises
    elif name.lower().startswith(("http://", "https://")):
        try:
            yield SiteSource(url=name).location
        except ValidationError:
            return


def _media_types(wanted: tuple[str, ...]) -> AnyOf:
    exact = [each for each in wanted if not each.endswith("/*")]
    families = [each.removesuffix("/*") for each in wanted if each.endswith("/*")]
    conditions = (
        DocumentCondition("filter_media_types", {"value": exact}),
        DocumentCondition("filter_media_families", {"value": families}),
    )
    return AnyOf(tuple(condition for condition in conditions if condition.values["value"]))


def _period(name: str, dates: object, from_query: str, until_query: str) -> Iterator[DocumentCondition]:
    period = period_of(name, dates)
    if period.start is not None:
        yield DocumentCondition(from_query, {"value": period.start})
    if period.end is not None:
        yield DocumentCondition(until_query, {"value": period.end})


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
