"""Tags and metadata given by hand, which lie over those of the document whatever its source says later."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.admin.api_collections import merged
from sourcebook.admin.audit import account, record_event
from sourcebook.admin.titles import given_title
from sourcebook.database.queries import queries
from sourcebook.database.refusals import refusals_as
from sourcebook.errors import QueryError
from sourcebook.redaction.documents import redacted_facts
from sourcebook.stages.ingest_redaction import collection_redactor
from sourcebook.stages.relations.update import read_relations

MOST_TAGS: Final = 50
LONGEST_TAG: Final = 100
"""Characters of a tag, at most."""
MOST_METADATA_BYTES: Final = 20_000
"""Bytes of a document's metadata given by hand, as JSON, at most."""
_DEEPEST: Final = 20
"""Objects and lists within each other, at most."""
_LARGEST: Final = 10**18
"""Bound of whole numbers; JSON readers of other languages hold fewer digits."""
_TAGGING: Final = frozenset({"tags", "keywords"})
"""Names of metadata that a document's own tags are read from."""
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def change_labels(
    connection: Connection,
    document: int,
    *,
    tags: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    title: str | None = None,
    actor: str | None = None,
) -> None:
    """Change what was given to a document by hand; searches see it with the end of the transaction."""
    with connection.transaction():
        row = connection.execute(queries["lock_labels"], {"document": document}).fetchone()
        if row is None:
            raise QueryError(f"there is no document {document}: `sourcebook documents` lists what there is")
        collection, uri, given_tags, given_metadata, held_title = row
        new_title = held_title if title is None else given_title(connection, collection, title)
        new_tags = list(given_tags or ()) if tags is None else checked_tags(tags)
        new_metadata = dict(given_metadata or {})
        if metadata is not None:
            new_metadata = checked_metadata(merged(new_metadata, _checked_patch(metadata)))
            redactor = collection_redactor(connection, collection)
            new_metadata = new_metadata if redactor is None else redacted_facts(redactor, None, new_metadata)[1]
        before = (list(given_tags or ()), dict(given_metadata or {}), held_title)
        if (new_tags, new_metadata, new_title) == before:
            return
        is_empty = not new_tags and not new_metadata
        values = {
            "document": document,
            "tags": None if is_empty else new_tags,
            "metadata": None if is_empty else Jsonb(new_metadata),
            "title": new_title,
        }
        with refusals_as(lambda reason, _: QueryError(f"the metadata or tags cannot be stored: {reason}")):
            connection.execute(queries["give_labels"], values)
            if metadata is not None or title is not None:
                read_relations(connection, collection, document)
        details = {"uri": uri, "id": document, "tags": new_tags, "metadata": sorted(new_metadata)}
        details |= {"title": new_title} if title is not None else {}
        record_event(connection, actor or account(), "document.change", f"collection {collection}", details)


def lock_document(connection: Connection, document: int) -> None:
    """Let nobody change the row of a document until the transaction ends."""
    connection.execute(queries["lock_labels"], {"document": document})


def checked_tags(tags: Sequence[str]) -> list[str]:
    """Return tags without repetition and without spaces around them."""
    if isinstance(tags, str):
        raise QueryError("tags are a list of words")
    found = []
    for tag in map(str, tags):
        if not tag.strip() or len(tag.strip()) > LONGEST_TAG or _CONTROL.search(tag):
            raise QueryError(f"a tag is a word or a few, of 1 to {LONGEST_TAG} characters on one line")
        found.append(tag.strip())
    found = list(dict.fromkeys(found))
    if len(found) > MOST_TAGS:
        raise QueryError(f"{len(found)} tags are too many: a document has at most {MOST_TAGS} given by hand")
    return found


def checked_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata that the database can keep."""
    text = json.dumps(metadata, ensure_ascii=False)
    if len(text.encode()) > MOST_METADATA_BYTES:
        raise QueryError(f"the metadata given by hand have more than {MOST_METADATA_BYTES:,} bytes as JSON")
    return dict(metadata)


def _checked_patch(patch: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(patch, Mapping):
        raise QueryError("metadata are names with values")
    taken = sorted(_TAGGING & set(patch))
    if taken:
        raise QueryError(f"{taken[0]} are no metadata to give by hand: give tags")
    _check_value(patch, _DEEPEST)
    return dict(patch)


def _check_value(value: Any, depth: int) -> None:
    """Raise a QueryError where a value cannot be kept as it is, and read again by everybody."""
    if depth < 0:
        raise QueryError(f"the metadata have more than {_DEEPEST} levels")
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise QueryError("the metadata have a text with NUL or half a character")
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if abs(value) >= _LARGEST:
            raise QueryError("the metadata have a number of more than 18 digits: give it as text")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise QueryError("the metadata have a number that JSON does not have")
    elif isinstance(value, Mapping):
        for name, held in value.items():
            if not isinstance(name, str) or not name:
                raise QueryError("a name of the metadata is empty or no text")
            _check_value(name, depth)
            _check_value(held, depth - 1)
    elif isinstance(value, list | tuple):
        for held in value:
            _check_value(held, depth - 1)
    else:
        raise QueryError(f"the metadata have a {type(value).__name__}, which JSON does not have: give it as text")
