"""Ingest in this process: runs of the job `ingest` for the collections with pending work."""

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from psycopg import Connection

from sourcebook.admin.collections import apply, collection_names
from sourcebook.admin.freshness import record_comparison
from sourcebook.admin.pending import Pending, find_pending
from sourcebook.config.loading import Configuration, sourcebook_home
from sourcebook.database.database import Database
from sourcebook.database.lock import collection_lock
from sourcebook.database.queries import queries
from sourcebook.errors import ConfigurationError, SourcebookError
from sourcebook.indexing.generations import wanted_embedding
from sourcebook.model.selection import Selection

if TYPE_CHECKING:
    import dagster as dg

    from sourcebook.embedding.embedder_pool import EmbedderPool

ASSETS = (
    "raw_files",
    "crawled_pages",
    "transcripts",
    "documents",
    "chunks",
    "embeddings",
    "search_index",
    "index_upkeep",
)
_COUNTS = ("added", "changed", "unchanged", "removed", "failed", "seconds")


class IngestError(SourcebookError):
    """A run failed as a whole; the message names the collection and the reason."""


@dataclass(frozen=True, slots=True)
class IngestedCollection:
    """The result of the ingest of one collection."""

    name: str
    run_id: str | None
    """Id of the Dagster run; None where nothing was pending."""
    assets: dict[str, dict[str, Any]]
    failed_items: int
    """Number of items in a failed state after the run, of this or an earlier run."""
    pending: Pending = field(repr=False)
    unread_sites: tuple[str, ...] = ()
    """Sites that could not be crawled completely, with the reasons."""
    unmatched: tuple[str, ...] = ()
    """Folders without any file that their patterns match, as sentences."""


@dataclass(frozen=True, slots=True)
class IngestEvents:
    """Callbacks of an ingest."""

    waiting: Callable[[str], None] = lambda collection: None
    """Called with a collection that another process is ingesting."""
    started: Callable[[str, Pending], None] = lambda collection, pending: None
    speech_is_busy: Callable[[str], None] = lambda collection: None
    """Called with a collection whose recordings wait for the transcription of another collection."""


def ingest(
    configuration: Configuration,
    database: Database,
    *,
    collections: list[str],
    selection: Selection,
    events: IngestEvents,
    embedders: "EmbedderPool | None" = None,
) -> Iterator[IngestedCollection]:
    """Apply the configuration and bring collections up to date, one after the other.

    A collection without pending work starts no Dagster run.

    Args:
        configuration: the configuration to apply.
        database: the database of the collections.
        collections: names; every collection where empty.
        selection: the part of each collection to process.
        events: callbacks.
        embedders: a pool that stays open, for models that are used again soon; a pool of its own by default.

    Raises:
        ConfigurationError: the configuration is invalid, or lacks a collection.
        IngestError: a run failed.
    """
    with database.connection() as connection:
        apply(connection, configuration)
        names = collection_names(connection)
    unknown = sorted(set(collections) - set(names))
    if unknown:
        raise ConfigurationError(f"there is no collection {', '.join(unknown)}; there is {', '.join(names)}")
    instance: dg.DagsterInstance | None = None
    own_embedders: EmbedderPool | None = None
    try:
        for name in collections or names:
            with collection_lock(database, name, waiting=lambda name=name: events.waiting(name)):  # type: ignore[misc]
                with database.connection() as connection:
                    pending = find_pending(connection, name, selection)
                    if not pending.work and not selection.force:
                        record_comparison(connection, name, behind=False)
                        yield IngestedCollection(
                            name,
                            None,
                            _nothing_done(connection, name),
                            _count_failed(connection, name),
                            pending,
                            unmatched=_unmatched(connection, name),
                        )
                        continue
                    if pending.needs_model:
                        if embedders is None:
                            embedders = own_embedders = _new_pool()
                        home = sourcebook_home(configuration.path)
                        embedders.start_early(wanted_embedding(connection, name), home, pending.items)
                events.started(name, pending)
                from orchestration.instance import open_instance

                instance = instance or open_instance(sourcebook_home(configuration.path), database)
                run_id, assets = _run(instance, configuration, database, name, selection, pending, events, embedders)
                with database.connection() as connection:
                    record_comparison(connection, name, behind=False)
                    yield IngestedCollection(
                        name,
                        run_id,
                        assets,
                        _count_failed(connection, name),
                        pending,
                        _unread_sites(connection, name),
                        _unmatched(connection, name),
                    )
    finally:
        if own_embedders is not None:
            own_embedders.close()
        if instance is not None:
            instance.dispose()


def _new_pool() -> "EmbedderPool":
    from sourcebook.embedding.embedder_pool import EmbedderPool

    return EmbedderPool()


def _run(
    instance: "dg.DagsterInstance",
    configuration: Configuration,
    database: Database,
    name: str,
    selection: Selection,
    pending: Pending,
    events: IngestEvents,
    embedders: "EmbedderPool | None",
) -> tuple[str, dict[str, dict[str, Any]]]:
    import dagster as dg

    from orchestration.definitions import defs
    from orchestration.instance import without_storage_errors
    from orchestration.partitions import COLLECTIONS
    from resources.embedder import embedder_resource
    from resources.knowledge import Knowledge
    from resources.selection import RunSelection
    from sensors.abandoned_runs import IN_PROCESS, active_runs, free_abandoned_slots

    if not gc.get_freeze_count():  # once a process: what a run leaves behind is to be collected
        gc.freeze()
    gc.enable()
    active_runs(instance, database, name, holding_lock=True)  # records killed runs as failed
    instance.add_dynamic_partitions(COLLECTIONS, [name])
    with database.connection() as connection:
        has_sites = connection.execute(queries["has_sites"], {"collection": name}).fetchone() == (True,)
    # A step takes a tenth of a second: a collection of texts needs neither a crawl nor transcripts.
    needed = {"crawled_pages": has_sites, "transcripts": pending.has_sound}
    assets = tuple(asset for asset in ASSETS if needed.get(asset, True))
    if pending.has_sound and free_abandoned_slots(instance, database, name):
        events.speech_is_busy(name)
    job = defs.resolve_job_def("ingest").get_subset(asset_selection={dg.AssetKey(asset) for asset in assets})
    with without_storage_errors():
        result = job.execute_in_process(
            instance=instance,
            partition_key=name,
            raise_on_error=False,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            tags={IN_PROCESS: "ingest", "dagster/max_retries": "0"},
            resources={
                "embedder": embedder_resource(embedders),
                "knowledge": Knowledge(config_path=str(configuration.path), lock=False),
                "selection": RunSelection(
                    documents=list(selection.documents),
                    sources=list(selection.sources),
                    only_failed=selection.only_failed,
                    force=selection.force,
                ),
            },
        )
    if not result.success:
        raise IngestError(f"collection {name}: {_why(result)} (run {result.run_id})")
    return result.run_id, {asset: _counts(result, asset) for asset in ASSETS}


def _why(result: "dg.ExecuteInProcessResult") -> str:
    """Return the innermost error of a failed run as one sentence."""
    for event in result.all_events:
        error = getattr(event.event_specific_data, "error", None)
        if event.is_failure and error is not None:
            while error.cause is not None and not (error.cls_name or "").startswith("Database"):
                error = error.cause
            return str(error.message).strip().rpartition("Error: ")[2] or str(error.message).strip()
    return "the run failed; see the run in the UI"


def _counts(result: "dg.ExecuteInProcessResult", asset: str) -> dict[str, Any]:
    from assets.materialization import TOTALS

    for materialization in result.asset_materializations_for_node(asset):
        return {
            name: value.value
            for name, value in materialization.metadata.items()
            if isinstance(value.value, int | float) and name not in TOTALS
        }
    return dict.fromkeys(_COUNTS, 0)


def _nothing_done(connection: Connection, name: str) -> dict[str, dict[str, Any]]:
    """Return the counts of an ingest without changes."""
    row = connection.execute(queries["totals"], {"collection": name}).fetchone()
    unchanged = dict(zip(ASSETS, row or (0,) * len(ASSETS), strict=True))
    empty: dict[str, Any] = dict.fromkeys(_COUNTS, 0)
    assets = {asset: {**empty, "unchanged": unchanged[asset]} for asset in ASSETS}
    assets["embeddings"].update(computed=0, reused=0)
    return assets


def _unread_sites(connection: Connection, name: str) -> tuple[str, ...]:
    return tuple(reason for (reason,) in connection.execute(queries["unread_sites"], {"collection": name}))


def _unmatched(connection: Connection, name: str) -> tuple[str, ...]:
    return tuple(reason for (reason,) in connection.execute(queries["unmatched_sources"], {"collection": name}))


def _count_failed(connection: Connection, name: str) -> int:
    row = connection.execute(queries["count_failed"], {"collection": name}).fetchone()
    return int(row[0]) if row else 0
