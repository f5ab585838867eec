"""Relations as documents write them: fields of their metadata, links, and ids in their text."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from sourcebook.config.relation_kinds import INVERSE_KINDS, RelationKind
from sourcebook.config.relations import DEFAULT_PATTERNS, RelationPattern, RelationSettings
from sourcebook.errors import ConfigurationError, MissingDependencyError
from sourcebook.model.relation import DocumentName, Origin, WrittenRelation
from sourcebook.stages.relations.links import link_targets, prose, wiki_targets
from sourcebook.stages.relations.names import joined, normal_name, normal_uri, series_of

MOST: Final = 1_000
"""Relations of a document."""
_LONGEST_WRITTEN: Final = 2_000
_MEMORY: Final = 16 << 20
_FIELD_NAME: Final = re.compile(r"[\s_-]+")
_PLACE: Final = re.compile(r"\{(\d+)\}")
_LIST: Final = re.compile(r"\s*[,;\n]\s*")
_NUMBER: Final = re.compile(r"#?0*(\d{1,9})")
_NUMBERS: Final = re.compile(r"#?\d{1,9}(?:\s+#?\d{1,9})+")
_LINK: Final = re.compile(r"\[[^\]\n]{0,500}\]\(<?([^\s()<>]{1,2000})>?\)")
_PATH: Final = re.compile(
    r"[a-z][a-z0-9+.-]*://|\.{0,2}/|[^\s]*/[^\s]*$|[^\s/]+\.(?:md|mdx|markdown|rst|html?|adoc|txt)(?:#|$)"
)
_LEADING_ID: Final = re.compile(r"[A-Za-z]{2,10}[- #]?0*\d{1,6}(?=\s*(?:[:(–—]|\s-\s))")
"""Id with the title behind it, such as `ADR-0002: Cron`."""
_DEEPEST: Final = 4
"""Lists within lists that are looked into: YAML reads `[[Name]]` without quotation marks as one."""
_NOTHING: Final = frozenset({"", "none", "n/a", "null", "-", "~", "tbd"})


@dataclass(frozen=True, slots=True)
class WritingDocument:
    """A document with everything that decides its relations."""

    uri: str
    root: str
    """URI of the folder of its source."""
    metadata: Mapping[str, Any]
    markdown: str
    container: str | None = None
    """URI of the message or archive that it is part of."""


def written_relations(
    document: WritingDocument, names: list[DocumentName], settings: RelationSettings
) -> list[WrittenRelation]:
    """Return the relations of a document, each once: those of fields before those of links and ids.

    Args:
        document: the document.
        names: its own names; a relation to one of them is none.
        settings: the settings of its collection.

    Raises:
        ConfigurationError: a pattern of the settings is none of RE2.
        MissingDependencyError: there are patterns of one's own, and google-re2 is not installed.
    """
    own = {name.name for name in names}
    found: dict[tuple[str, bool, str], WrittenRelation] = {}
    for relation in _all(document, names, settings):
        if relation.target and relation.target not in own:
            found.setdefault((relation.kind, relation.is_inverse, relation.target), relation)
            if len(found) == MOST:
                break
    return list(found.values())


def _all(document: WritingDocument, names: list[DocumentName], settings: RelationSettings) -> Iterator[WrittenRelation]:
    if document.container is not None:
        yield _to_uri("part_of", document.container, document.container, "attachment")
    yield from _of_fields(document, series_of(names), settings.fields)
    if not document.markdown:
        return
    text = prose(document.markdown)
    if settings.links:
        for link in link_targets(text):
            yield _to_uri("references", link, joined(document.uri, link, document.root), "link")
        for name in wiki_targets(text):
            yield _to_name("references", name, name.rpartition("/")[2], "link")
    for pattern in settings.patterns:
        for found in _compiled(pattern).finditer(text):
            name = _PLACE.sub(lambda place, found=found: found[int(place[1])] or "", pattern.target)  # type: ignore[misc]
            yield _to_name(pattern.kind, found[0], name, "id")


def _of_fields(document: WritingDocument, series: str | None, fields: Mapping[str, str]) -> Iterator[WrittenRelation]:
    kinds = {_field_name(field): kind for field, kind in fields.items()}
    for field, value in document.metadata.items():
        kind = kinds.get(_field_name(field))
        if kind is None:
            continue
        for text in _values(value):
            if links := _LINK.findall(text):
                for link in links:
                    yield _to_uri(kind, link, joined(document.uri, link, document.root), "field")
                continue
            if wiki := list(wiki_targets(text)):
                for name in wiki:
                    yield _to_name(kind, text, name.rpartition("/")[2], "field")
                continue
            name = text.strip()
            if own := _LEADING_ID.match(name):
                yield _to_name(kind, text, own[0], "field")
            elif _PATH.match(name.lower()):
                yield _to_uri(kind, text, joined(document.uri, name, document.root), "field")
            elif number := _NUMBER.fullmatch(name):
                yield _to_name(kind, text, f"{series}-{number[1]}" if series else name, "field")
            else:
                yield _to_name(kind, text, name, "field")


def _values(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts of a field: a list, a line with commas, a line of numbers, or one value."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, list) and depth < _DEEPEST:
            yield from _values(part, depth + 1)
        if isinstance(part, bool) or not isinstance(part, str | int):
            continue
        for text in _LIST.split(str(part).strip()):
            if text.casefold() not in _NOTHING:
                yield from text.split() if _NUMBERS.fullmatch(text) else [text]


def _field_name(name: str) -> str:
    return _FIELD_NAME.sub("-", name.strip().casefold())


def _to_uri(kind: str, written: str, uri: str, origin: Origin) -> WrittenRelation:
    target, exact = normal_uri(uri)
    return _relation(kind, written, target, exact, origin)


def _to_name(kind: str, written: str, name: str, origin: Origin) -> WrittenRelation:
    return _relation(kind, written, normal_name(name), None, origin)


def _relation(kind: str, written: str, target: str, exact: str | None, origin: Origin) -> WrittenRelation:
    own: RelationKind = INVERSE_KINDS.get(kind, kind)  # type: ignore[arg-type]
    return WrittenRelation(own, kind in INVERSE_KINDS, written[:_LONGEST_WRITTEN], target, exact, origin)


@lru_cache(maxsize=256)
def _compiled(pattern: RelationPattern) -> Any:
    """Return a pattern compiled by RE2, whose time is linear; ours are linear anyway."""
    if pattern in DEFAULT_PATTERNS:
        return re.compile(pattern.match)
    try:
        import re2
    except ImportError as error:
        from sourcebook.installation import install_command

        raise MissingDependencyError(
            f"patterns of relations need google-re2; install it with  {install_command('server')}"
        ) from error
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        return re2.compile(pattern.match, options)
    except re2.error as error:
        raise ConfigurationError(
            f"relations: the pattern {pattern.match!r} is none of RE2, which has no look-around and no back-references"
        ) from error
