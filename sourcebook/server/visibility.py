"""Visibility: the collections and documents that exist for a caller, the same in every face of the server."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, TypeVar

from sourcebook.admin.overview import KeptSource
from sourcebook.contract.collections import CollectionSources, CollectionSummary
from sourcebook.contract.documents import Document, Item
from sourcebook.contract.status import CollectionStatus, SourceStatus
from sourcebook.errors import AmbiguousDocumentError, QueryError, SourcebookError, UnknownDocumentError, WithheldError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.audited import record_reading
from sourcebook.operations.contents import collection_of, show
from sourcebook.operations.overviews import collection_names, seen_collection_names
from sourcebook.server.request_notes import note_collections

NO_COLLECTION: Final = "there is no such collection"
_NO_DOCUMENT: Final = "there is no such document"
UNSEEN: Final = "another collection"
"""Words for a collection that does not exist for the caller and gives documents to one that does."""
SOMEBODY: Final = "somebody else"
_Source = TypeVar("_Source", SourceStatus, KeptSource)
_TAKEN: Final = re.compile(r"((?:no longer )?taken from )(.+)")
"""Detail of a planned item."""
_IDS: Final = 1 << 63
"""Numbers from here on are no id that the database can be asked for."""


class NotFoundError(SourcebookError):
    """A collection, document or generation does not exist, or does not exist for this caller."""


class NoDocumentError(NotFoundError, UnknownDocumentError):
    """A document does not exist, or does not exist for this caller."""


def seen_collections(knowledge: KnowledgeBase, grant: Grant, names: list[str] | None) -> list[str] | None:
    """Return the collections that a request is about, which names some or none; None: those of the knowledge base.

    Raises:
        NotFoundError: a collection does not exist for the caller, or none does.
    """
    if names:
        known = set(known_collections(knowledge, grant))
        if any(name not in known for name in names):
            raise NotFoundError(NO_COLLECTION)
        note_collections(names)
        return names
    if grant.collections is None:
        return None
    seen = known_collections(knowledge, grant)
    if not seen:
        raise NotFoundError(NO_COLLECTION)
    return seen


def known_collections(knowledge: KnowledgeBase, grant: Grant) -> list[str]:
    """Return the names of the collections that exist for a caller, in alphabetical order.

    For principals those exist in which they see a document: the name of another one would tell that there is more.
    """
    is_whole = grant.asker.principals is None
    return grant.seen(collection_names(knowledge) if is_whole else seen_collection_names(knowledge))


def searched_collections(
    knowledge: KnowledgeBase, grant: Grant, named: list[str] | str | None, generation: int | list[int] | None
) -> list[str] | None:
    """Return the collections to search; of generations, those that they are of.

    Raises:
        NotFoundError: a collection or a generation does not exist for the caller.
    """
    names = [named] if isinstance(named, str) else named
    if generation is not None:
        ids = {generation} if isinstance(generation, int) else set(generation)
        known = {state.id: state.collection for state in knowledge.generations()}
        if any(number not in known or not grant.sees(known[number]) for number in ids):
            raise NotFoundError("there is no such generation")
        return names if names is None else seen_collections(knowledge, grant, names)
    return seen_collections(knowledge, grant, names)


def check_unredacted(grant: Grant, unredacted: bool) -> None:
    """Refuse to lift redaction for a caller without the scope `unredacted`.

    Raises:
        WithheldError: the caller asks for it.
    """
    if unredacted and not grant.allows("unredacted"):
        raise WithheldError("the key does not allow this: unredacted needs the scope unredacted")


def visible_document(
    knowledge: KnowledgeBase,
    grant: Grant,
    document: str | int,
    collection: str | None = None,
    *,
    unredacted: bool = False,
    reading: str | None = "show",
) -> Document:
    """Return a document that exists for a caller, as the caller may see it; see `existing_document`.

    Raises:
        WithheldError: the caller may not lift redaction.
        SourcebookError: it does not exist, or it is not said which one is meant.
    """
    check_unredacted(grant, unredacted)
    found = existing_document(knowledge, grant, document, collection, unredacted=unredacted, reading=reading)
    return shown_document(grant, found)


def visible_number(
    knowledge: KnowledgeBase,
    grant: Grant,
    document: str | int,
    collection: str | None = None,
    *,
    unredacted: bool = False,
) -> int:
    """Return the id of a document that exists for a caller, for the operation that shows it; 0 for what is none yet.

    Raises:
        WithheldError: the caller may not lift redaction.
        SourcebookError: see `visible_document`.
    """
    found = visible_document(knowledge, grant, document, collection, unredacted=unredacted, reading=None)
    return found.item.document_id or 0


def shown(grant: Grant, found: Any) -> Any:
    """Return what an operation answers without what is of collections that do not exist for the caller."""
    if isinstance(found, list):
        return [shown(grant, each) for each in found if _owner(each) is None or grant.sees(_owner(each))]
    if isinstance(found, CollectionStatus | CollectionSources):
        return replace(found, sources=shown_sources(grant, found.sources))
    return found


def _owner(found: Any) -> Any:
    return found.name if isinstance(found, CollectionSummary) else getattr(found, "collection", None)


def shown_document(grant: Grant, document: Document) -> Document:
    """Return a document without the name of a giving collection that does not exist for the caller."""
    (item,) = shown_items(grant, [document.item])
    return document if item is document.item else replace(document, item=item)


def shown_items(grant: Grant, items: Iterable[Item]) -> list[Item]:
    """Return items without the names of giving collections that do not exist for the caller, and of other curators."""
    taken = (replace(item, taken_from=None) if _is_of_unseen(grant, item) else item for item in items)
    return [replace(item, curated_by=SOMEBODY) if _is_by_another(grant, item) else item for item in taken]


def _is_by_another(grant: Grant, item: Item) -> bool:
    """Return whether a key or an account curated an item whose name a caller of some collections may not know."""
    is_limited = grant.collections is not None or grant.asker.principals is not None
    return is_limited and item.curated_by not in {None, grant.actor}


def shown_sources(grant: Grant, sources: Iterable[_Source]) -> tuple[_Source, ...]:
    """Return sources without the names of giving collections that do not exist for the caller."""
    return tuple(
        replace(each, location=UNSEEN) if each.kind == "collection" and not grant.sees(each.location) else each
        for each in sources
    )


def shown_settings(grant: Grant, settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings of a collection without the names of giving collections that do not exist for the caller."""
    rules = settings.get("from")
    listed = [rules] if isinstance(rules, dict) else rules if isinstance(rules, list) else []
    shown = [
        {**rule, "collection": UNSEEN}
        if isinstance(rule, dict) and not grant.sees(str(rule.get("collection")))
        else rule
        for rule in listed
    ]
    return settings if shown == listed else {**settings, "from": shown}


def own_document(knowledge: KnowledgeBase, grant: Grant, document: int) -> Document:
    """Return a document that exists for a caller and is no other collection's, whose name it may not know.

    Raises:
        NotFoundError: it does not exist.
        QueryError: it is another collection's.
    """
    found = existing_document(knowledge, grant, document, reading=None)
    if _is_of_unseen(grant, found.item):
        raise QueryError("the document is taken from another collection and follows it")
    return found


def existing_document(
    knowledge: KnowledgeBase,
    grant: Grant,
    document: str | int,
    collection: str | None = None,
    *,
    unredacted: bool = False,
    reading: str | None = "show",
) -> Document:
    """Return a document that exists for a caller, whole: what is shown of it is `shown_document`.

    Args:
        knowledge: the knowledge base.
        grant: what the caller sees.
        document: id, URI or end of the path.
        collection: name of its collection, where several have it.
        unredacted: whether what its collection redacts is shown.
        reading: operation by which the audit records it; None where another one shows it, or none does.

    Raises:
        NoDocumentError: it does not.
        NotFoundError: the collection does not.
        AmbiguousDocumentError: several documents end with the path, or several collections of the caller have it and
            none is named.
    """
    collections = seen_collections(knowledge, grant, [collection] if collection is not None else None)
    if re.fullmatch(r"-?\d+", str(document)) and abs(int(document)) >= _IDS:
        raise NoDocumentError(_NO_DOCUMENT)
    if collections is None:
        return _noted(knowledge, show(knowledge, document, unredacted=unredacted), reading)
    if isinstance(
        document, int
    ):  # it is one document, wherever it is; a hidden one is not read: that would take longer
        if collection_of(knowledge, document) not in collections:
            raise NoDocumentError(_NO_DOCUMENT)
        return _noted(knowledge, show(knowledge, document, unredacted=unredacted), reading)
    found = []
    for name in collections:
        try:
            found.append(show(knowledge, document, name, unredacted=unredacted))
        except AmbiguousDocumentError:
            raise
        except UnknownDocumentError:
            continue
    if len(found) > 1:
        raise AmbiguousDocumentError("several collections have this document: name one of them as `collection`")
    if not found:
        raise NoDocumentError(_NO_DOCUMENT)
    return _noted(knowledge, found[0], reading)


def _noted(knowledge: KnowledgeBase, document: Document, reading: str | None) -> Document:
    note_collections([document.item.collection])
    if reading is not None:
        record_reading(knowledge, reading, document)
    return document


def _is_of_unseen(grant: Grant, item: Item) -> bool:
    """Return whether an item is taken from a collection that does not exist for the caller."""
    return item.taken_from is not None and not grant.sees(item.taken_from)


def shown_detail(grant: Grant, detail: str) -> str:
    """Return the detail of a planned item without the name of a collection that does not exist for the caller."""
    taken = _TAKEN.fullmatch(detail)
    return detail if taken is None or grant.sees(taken[2]) else f"{taken[1]}{UNSEEN}"
