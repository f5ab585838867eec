"""Ingest in this process: runs of the job `ingest` for the collections with pending work."""

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import Connection

from orchestration.recorder import Recording, RunRecorder
from orchestration.small_change import ASSETS as SMALL_ASSETS
from orchestration.small_change import is_small, update
from sourcebook.admin.collections import apply, collection_names
from sourcebook.admin.freshness import record_comparison
from sourcebook.admin.pending import Pending, find_pending
from sourcebook.admin.status import count_failed
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
    recorder: RunRecorder | None = None,
) -> Iterator[IngestedCollection]:
    """Apply the configuration and bring collections up to date, one after the other.

    A collection without pending work starts no Dagster run.

    Args:
        configuration: the configuration to apply.
        database: the knowledge base.
        collections: names; every collection where empty.
        selection: part of the collections.
        events: callbacks.
        embedders: a pool that stays open, for models that are used again soon; a pool of its own by default.
        recorder: records the runs of small changes, whose work is done in this process; without one every run is
            executed in this process.

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
    with ExitStack() as stack:
        runs = _Runs(configuration, database, selection, events, embedders, recorder, stack)
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
                            count_failed(connection, name),
                            pending,
                            unmatched=_unmatched(connection, name),
                        )
                        continue
                run_id, assets = runs.run(name, pending)
                with database.connection() as connection:
                    record_comparison(connection, name, behind=False)
                    yield IngestedCollection(
                        name,
                        run_id,
                        assets,
                        count_failed(connection, name),
                        pending,
                        _unread_sites(connection, name),
                        _unmatched(connection, name),
                    )


class _Runs:
    """The runs of one command: Dagster, its instance and the models are loaded when the first run needs them."""

    def __init__(
        self,
        configuration: Configuration,
        database: Database,
        selection: Selection,
        events: IngestEvents,
        embedders: "EmbedderPool | None",
        recorder: RunRecorder | None,
        stack: ExitStack,
    ) -> None:
        self._configuration = configuration
        self._home = sourcebook_home(configuration.path)
        self._database = database
        self._selection = selection
        self._events = events
        self._recorder = recorder
        self._stack = stack
        self._instance: dg.DagsterInstance | None = None
        self._embedders = embedders

    def run(self, name: str, pending: Pending) -> tuple[str, dict[str, dict[str, Any]]]:
        """Bring a collection up to date; return the id of the run, and the counts of each asset.

        Raises:
            IngestError: the run failed.
        """
        with self._database.connection() as connection:
            has_sites = connection.execute(queries["has_sites"], {"collection": name}).fetchone() == (True,)
            wanted = wanted_embedding(connection, name)
        recorder = self._recorder if not has_sites and is_small(pending, self._selection) else None
        if recorder is not None:
            recorder.begin(self._recording(name))
        if pending.needs_model:
            self._pool().start_early(wanted, self._home, pending.items)
        self._events.started(name, pending)
        if recorder is not None:
            done = self._record(recorder, name, pending)
            if done is not None:
                return done
        return self._execute(name, pending, has_sites=has_sites)

    def _record(
        self, recorder: RunRecorder, name: str, pending: Pending
    ) -> tuple[str, dict[str, dict[str, Any]]] | None:
        """Do the work of a small change and record its run; None where the work or the recorder failed.

        The ordinary run goes on from what is done, and records the failure if it fails again.
        """
        embedders = self._pool()
        try:
            reports = update(self._database, name, self._selection, pending, embedders, self._home)
            run_id = recorder.finish(reports)
        except (SourcebookError, psycopg.Error, OSError, ArithmeticError):
            recorder.close()
            self._recorder = None
            return None
        embedders.wait_for_exports()
        return run_id, {asset: reports[asset].counts() if asset in reports else _no_counts() for asset in ASSETS}

    def _recording(self, name: str) -> Recording:
        return Recording(
            self._configuration.path, self._home, self._database.url, self._database.dagster_url(), name, SMALL_ASSETS
        )

    def _execute(self, name: str, pending: Pending, *, has_sites: bool) -> tuple[str, dict[str, dict[str, Any]]]:
        """Execute a run in this process."""
        if self._recorder is not None:
            self._recorder.close()
        from orchestration.instance import open_instance
        from orchestration.run import RunError, counts_of, execute_run
        from sensors.abandoned_runs import free_abandoned_slots

        if not gc.get_freeze_count():  # once a process: what a run leaves behind is to be collected
            gc.freeze()
        gc.enable()
        if self._instance is None:
            self._instance = open_instance(self._home, self._database)
            self._stack.callback(self._instance.dispose)
        # A step takes a tenth of a second: a collection of texts needs neither a crawl nor transcripts.
        needed = {"crawled_pages": has_sites, "transcripts": pending.has_sound}
        if pending.has_sound and free_abandoned_slots(self._instance, self._database, name):
            self._events.speech_is_busy(name)
        try:
            result = execute_run(
                self._instance,
                self._database,
                name,
                tuple(asset for asset in ASSETS if needed.get(asset, True)),
                configuration=self._configuration.path,
                selection=self._selection,
                embedders=self._embedders,
            )
        except RunError as error:
            raise IngestError(f"collection {name}: {error}") from error
        return result.run_id, {asset: counts_of(result, asset) or _no_counts() for asset in ASSETS}

    def _pool(self) -> "EmbedderPool":
        if self._embedders is None:
            from sourcebook.embedding.embedder_pool import EmbedderPool

            self._embedders = EmbedderPool()
            self._stack.callback(self._embedders.close)
        return self._embedders


def _no_counts() -> dict[str, Any]:
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
