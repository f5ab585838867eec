"""Planned items: what an ingest would work on, each with the reason."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from psycopg import Connection

from sourcebook.admin.pending import Pending
from sourcebook.contract.plans import PlannedItem, Reason
from sourcebook.database.queries import queries
from sourcebook.files.listing import FileEntry
from sourcebook.indexing.generations import active_generation
from sourcebook.model.media_types import media_type_of_name
from sourcebook.stages.changes import changed_documents, changed_items, unsettled_documents
from sourcebook.stages.documents.rows import document_identities
from sourcebook.stages.raw_files.rules import KnownFile, has_reader_now, wants_second_look


@dataclass(slots=True)
class PlannedItems:
    """The items of a collection by URI: the first reason that is found counts."""

    by_uri: dict[str, PlannedItem] = field(default_factory=dict)

    def add(self, item: PlannedItem) -> None:
        """Add an item, unless its URI has a reason already."""
        self.by_uri.setdefault(item.uri, item)

    def __iter__(self) -> Iterator[PlannedItem]:
        """Yield the items in the order in which they were found."""
        return iter(self.by_uri.values())

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.by_uri)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of items by reason, in the order of the reasons."""
        found = Counter(item.reason for item in self)
        return {reason.value: found[reason] for reason in Reason if found[reason]}


def planned_items(
    connection: Connection, collection: str, pending: Pending, *, changed_settings: tuple[str, ...]
) -> PlannedItems:
    """Return what the next ingest of a collection would work on.

    Args:
        connection: to the knowledge base, with the configuration applied.
        collection: name of the collection.
        pending: its pending work.
        changed_settings: names of settings that the ingest would apply.
    """
    items = PlannedItems()
    settings = ", ".join(changed_settings)
    for difference in pending.differences:
        for entry in difference.to_read:
            items.add(_file(entry, difference.known.get(entry.uri), settings))
        for uri in difference.gone:
            items.add(PlannedItem(uri, Reason.GONE))
    _add_files_of_removed_sources(connection, collection, items)
    for location, urls in connection.execute(queries["planned_crawls"], {"collection": collection}):
        items.add(PlannedItem(location, Reason.CRAWL, f"{urls:,} URLs", size=urls))
    if pending.recordings:
        _add_recordings(connection, collection, items, settings)
    if pending.documents:
        _add_documents(connection, collection, items, settings)
    if pending.index:
        _add_unpublished(connection, collection, items)
    for finding in pending.damage:
        items.add(PlannedItem(finding.uri or f"kept numbers of {collection}", Reason.DAMAGED, finding.reason))
    return items


def _file(entry: FileEntry, known: KnownFile | None, settings: str) -> PlannedItem:
    media_type = media_type_of_name(entry.path)
    if known is None:
        return PlannedItem(entry.uri, Reason.NEW, media_type=media_type, size=entry.size)
    detail = ""
    if not known.live:
        reason = Reason.RETURNED
    elif known.retry_due:
        reason = Reason.RETRY
    elif (entry.size, entry.modified) != (known.size, known.modified) or wants_second_look(entry, known):
        reason = Reason.CHANGED
    elif has_reader_now(entry, known):
        reason, detail = Reason.REVISED, "files of its type are read now"
    else:
        reason, detail = Reason.SETTINGS, settings or "limits or patterns of its source"
    is_unread = known.skip_reason is not None
    known_type = known.media_type or media_type
    return PlannedItem(entry.uri, reason, detail, known_type, entry.size, known.size, is_unread=is_unread)


def _add_files_of_removed_sources(connection: Connection, collection: str, items: PlannedItems) -> None:
    for (uri,) in connection.execute(queries["planned_removals"], {"collection": collection}):
        items.add(PlannedItem(uri, Reason.GONE, "its source left the configuration"))


def _add_recordings(connection: Connection, collection: str, items: PlannedItems, settings: str) -> None:
    from sourcebook.stages.transcripts.rows import transcript_engine  # imports the engines

    engine = transcript_engine(connection, collection)
    scope = {"collection": collection, "engine": engine}
    for uri, media_type, size, reason, before in connection.execute(queries["planned_recordings"], scope):
        detail = f"{before} → {engine}" if reason == Reason.REVISED else ""
        found = Reason(reason)
        if found is Reason.REVISED and ("speech" in settings or "redaction" in settings):
            found, detail = Reason.SETTINGS, settings
        items.add(PlannedItem(uri, found, detail, media_type, size))


def _add_documents(connection: Connection, collection: str, items: PlannedItems, settings: str) -> None:
    identities = document_identities(connection, collection)
    changed = changed_items(connection, collection, identities)
    rows = connection.execute(
        queries["planned_documents"],
        {
            "collection": collection,
            "uris": changed.uris,
            "formats": list(identities),
            "parsers": list(identities.values()),
        },
    )
    for uri, media_type, size, reason, before, parser, passages, is_parsed, giver, is_published, is_index in rows:
        found, detail = Reason(reason), ""
        if found is Reason.REVISED:
            detail = f"{before} → {parser}"
            if "parsing" in settings or "redaction" in settings:
                found, detail = Reason.SETTINGS, settings
        elif found is Reason.SETTINGS:
            detail = settings or "tags or metadata of its source"
        elif giver is not None:
            detail = f"{'no longer ' if found is Reason.GONE else ''}taken from {giver}"
        known_size = None if found is Reason.NEW else size
        items.add(
            PlannedItem(uri, found, detail, media_type, size, known_size, passages, is_parsed, is_published, is_index)
        )


def _add_unpublished(connection: Connection, collection: str, items: PlannedItems) -> None:
    generation = active_generation(connection, collection)
    ids = changed_documents(connection, generation).ids if generation else None
    numbers = unsettled_documents(connection, collection, generation, ids)
    scope = {"documents": list(numbers), "generation": generation.id if generation else None}
    for uri, media_type, passages, is_removed in connection.execute(queries["planned_publications"], scope):
        if is_removed:
            items.add(PlannedItem(uri, Reason.GONE, passages=passages))
        else:
            items.add(
                PlannedItem(
                    uri, Reason.UNFINISHED, "its newest version is not published yet", media_type,
                    passages=passages, is_parsed=True,
                )
            )  # fmt: skip
