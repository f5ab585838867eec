"""The plan of the next ingest of a collection. Making it changes nothing."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from psycopg import Connection

from sourcebook.admin.collections import apply, check_collections, collection_names, givers
from sourcebook.admin.pending import Pending, find_pending
from sourcebook.admin.planning.forecast import forecast_run
from sourcebook.admin.planning.generation import PlannedGeneration, planned_generation
from sourcebook.admin.planning.items import PlannedItems, planned_items
from sourcebook.config.loading import Configuration
from sourcebook.contract.plans import CollectionPlan, PlannedItem, Reason
from sourcebook.database.queries import queries
from sourcebook.database.stage_runs import stage_runs
from sourcebook.errors import GoneCollectionError
from sourcebook.files.reading import digest_file
from sourcebook.indexing.generations import active_generation
from sourcebook.model.generation import Generation
from sourcebook.model.media_types import is_recording
from sourcebook.model.work import (
    crawling_work,
    cutting_work,
    embedding_work,
    expected_passages,
    parsing_work,
    publishing_work,
    reading_work,
    transcribing_work,
)
from sourcebook.stages.raw_files import Difference
from sourcebook.stages.raw_files.repositories import Look, look_at, record_look
from sourcebook.stages.raw_files.source_records import fetch_records

MOST_BYTES = 64_000_000
"""Bytes that a plan reads for one collection to recognise contents; a tenth of a second at 1 GB/s."""
_BYTES_PER_SECOND_OF_SOUND = 16_000
"""Bytes of a recording per second of its sound, at 128 kbit/s."""
_TOKENS = 180.0
"""Tokens of a passage in a collection without any."""


def make_plans(
    connection: Connection, configuration: Configuration | None, names: Sequence[str] = (), *, home: Path | None = None
) -> list[CollectionPlan]:
    """Return what the next ingest would do, as if the configuration were applied: what that writes is rolled back."""
    looks = [] if configuration is None or home is None else _looks(connection, configuration, names, home)
    with connection.transaction(force_rollback=True):
        before = _settings(connection)
        if configuration is not None:
            apply(connection, configuration)
        for name, found in looks:
            record_look(connection, name, found)
        check_collections(connection, names)
        for name in names or collection_names(connection):
            fetch_records(connection, name)
        after = _settings(connection)
        chosen = names or [name for name in collection_names(connection) if name in after]
        past = stage_runs(connection)
        pending: dict[str, Pending] = {}
        for name in chosen:
            with suppress(GoneCollectionError):  # it was deleted meanwhile
                pending[name] = find_pending(connection, name)
        plans = [
            plan_collection(
                connection,
                name,
                work,
                changed_settings=differing_settings(before.get(name), after[name]),
                past=past,
            )
            for name, work in pending.items()
        ]
        at_work = {name for name, work in pending.items() if work.work}
        return [
            replace(plan, givers=tuple(name for name in givers(connection, plan.name) if name in at_work))
            for plan in plans
        ]


def _looks(
    connection: Connection, configuration: Configuration, names: Sequence[str], home: Path
) -> list[tuple[str, Look]]:
    """Look at the repositories of the configuration, before any row is locked."""
    return [
        (name, look_at(repository, home, connection))
        for name, settings in configuration.collections.items()
        if not names or name in names
        for repository in settings.repositories
    ]


def differing_settings(before: Mapping[str, Any] | None, after: Mapping[str, Any], above: str = "") -> tuple[str, ...]:
    """Return the names of settings that differ, such as `parsing.ocr`; none for a new collection."""
    if before is None:
        return ()
    found: list[str] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            found += differing_settings(old, new, f"{above}{name}.")
        else:
            found.append(f"{above}{name}")
    return tuple(found)


def _settings(connection: Connection) -> dict[str, dict[str, Any]]:
    return dict(connection.execute(queries["settings_of_collections"]).fetchall())


def plan_collection(
    connection: Connection,
    name: str,
    pending: Pending,
    *,
    changed_settings: tuple[str, ...] = (),
    past: Mapping[tuple[str, str], Sequence[tuple[float, float]]] | None = None,
) -> CollectionPlan:
    """Return what an ingest of the pending work of a collection would do.

    Args:
        connection: to the knowledge base.
        name: name of the collection.
        pending: its pending work.
        changed_settings: names of settings that the ingest would apply.
        past: past runs of this machine by stage and kind; read from the ledger where None.
    """
    past = stage_runs(connection) if past is None else past
    items = planned_items(connection, name, pending, changed_settings=changed_settings)
    recognise_contents(connection, name, items, pending.differences)
    generation = active_generation(connection, name)
    cost = _Cost.of(connection, generation, items)
    model = generation.model if generation else ""
    if pending.index or pending.generations:
        built = planned_generation(connection, name)
        if built is not None:
            for uri in built.uris:
                items.add(PlannedItem(uri, Reason.SETTINGS, built.detail, is_parsed=True))
            cost.add_generation(built)
            model = built.model or model
    seconds = 0.0
    if pending.work:
        path = "small" if pending.is_small else "job"
        seconds = forecast_run(cost.work(items), past, model=model, path=path)
    return CollectionPlan(
        name=name,
        items=tuple(items),
        counts=items.counts,
        changed_settings=changed_settings,
        texts_to_embed=round(cost.texts),
        texts_cached=round(cost.cached),
        seconds=round(seconds, 1),
        has_past_runs=bool(past),
        unlisted=pending.unlisted,
    )


@dataclass(slots=True)
class _Cost:
    """Estimated passages of planned items."""

    texts: float = 0.0
    cached: float = 0.0
    tokens: float = _TOKENS
    """Average tokens of a passage."""
    passages: float = 0.0
    """Passages that are cut."""

    @classmethod
    def of(cls, connection: Connection, generation: Generation | None, items: PlannedItems) -> "_Cost":
        cost = cls()
        ratios: dict[str, float] = {}
        if generation is not None:
            media_types = sorted({item.media_type for item in items if item.media_type and not item.passages})
            scope = {"generation": generation.id, "media_types": media_types}
            if media_types:
                rows = connection.execute(queries["passages_by_media_type"], scope)
                ratios = {media_type: passages / size for media_type, passages, size in rows if size and passages}
            row = connection.execute(queries["tokens_of_passages"], scope).fetchone()
            cost.tokens = (row[0] if row else None) or _TOKENS
        for item in items:
            cost._add(item, ratios.get(item.media_type or ""))
        if generation is not None and Reason.UNFINISHED in {item.reason for item in items}:
            scope = {"generation": generation.id, "model": generation.model, "changed": None}
            needed, present = connection.execute(queries["count_embedding_needs"], scope).fetchone() or (0, 0)
            cost.texts += needed - present
            cost.cached += present
        return cost

    def add_generation(self, built: PlannedGeneration) -> None:
        """Add the passages of a generation that is built beside the active one."""
        self.passages += built.passages
        self.texts += built.texts
        self.cached += max(built.passages - built.texts, 0.0)

    def _add(self, item: PlannedItem, ratio: float | None) -> None:
        if item.reason in {Reason.GONE, Reason.CRAWL, Reason.UNFINISHED}:
            return
        passages = item.passages or (
            max(item.size * ratio, 1.0) if ratio else expected_passages(item.media_type, item.size)
        )
        new = passages
        has_texts = not item.is_unread and item.reason in {Reason.RETURNED, Reason.SETTINGS, Reason.REVISED}
        if item.is_published or has_texts:
            new = 0.0
        elif item.reason is Reason.CHANGED and item.known_size is not None and not item.is_unread:
            each = 1 / ratio if ratio else item.size / passages if item.size else 1.0
            new = min(1 + abs(item.size - item.known_size) / max(each, 1.0), passages)
        self.passages += passages
        if item.is_generated_index:
            return
        self.texts += new
        self.cached += passages - new

    def work(self, items: PlannedItems) -> dict[str, float]:
        """Return the work of each stage in seconds at built-in rates."""
        unread = {Reason.GONE, Reason.CRAWL, Reason.UNFINISHED}
        read = [item for item in items if item.reason not in unread and item.size]
        recordings = [item for item in read if is_recording(item.media_type or "")]
        parsed = [item for item in read if not (item.is_parsed or is_recording(item.media_type or ""))]
        return {
            "raw_files": reading_work(len(read), sum(item.size for item in read)),
            "crawled_pages": crawling_work(sum(item.size for item in items if item.reason is Reason.CRAWL)),
            "transcripts": transcribing_work(sum(item.size for item in recordings) / _BYTES_PER_SECOND_OF_SOUND),
            "documents": sum(parsing_work(item.media_type, item.size) for item in parsed),
            "chunks": cutting_work(self.passages),
            "embeddings": embedding_work(self.texts * self.tokens),
            "search_index": publishing_work(self.passages),
        }


def recognise_contents(
    connection: Connection, collection: str, items: PlannedItems, differences: Iterable[Difference]
) -> None:
    """Mark the new and changed local files whose content is that of a published document.

    Only files as large as a published one are read, and `MOST_BYTES` of them at most.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        items: planned items, of which some are replaced.
        differences: differences of the collection's sources, which name the files.
    """
    generation = active_generation(connection, collection)
    candidates = {
        entry.uri: (difference.source, entry.size)
        for difference in differences
        if difference.source.is_local
        for entry in difference.to_read
        if entry.size and items.by_uri[entry.uri].reason in {Reason.NEW, Reason.CHANGED}
    }
    if generation is None or not candidates:
        return
    scope = {"collection": collection, "sizes": sorted({size for _, size in candidates.values()})}
    known_sizes = {size for (size,) in connection.execute(queries["published_sizes"], scope)}
    hashes: dict[str, bytes] = {}
    left = MOST_BYTES
    for uri, (source, size) in candidates.items():
        if size not in known_sizes or size > left:
            continue
        left -= size
        try:
            hashes[uri] = digest_file(source, uri, size).sha256
        except OSError:  # the ingest will say why
            continue
    contents = {"generation": generation.id, "hashes": sorted(set(hashes.values()))}
    published = {
        sha256: (uri, passages) for sha256, uri, passages in connection.execute(queries["published_contents"], contents)
    }
    for uri, sha256 in hashes.items():
        if found := published.get(sha256):
            item = items.by_uri[uri]
            items.by_uri[uri] = replace(
                item, detail=f"content of {found[0]}", passages=found[1], is_parsed=True, is_published=True
            )
