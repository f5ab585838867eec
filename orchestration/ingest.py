"""Ingest in this process: runs of the job `ingest` for the collections with pending work."""

import gc
import logging
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg import Connection

from orchestration.ingest_results import (
    COUNTS,
    Counts,
    IngestedCollection,
    IngestError,
    IngestEvents,
    StateBefore,
    nothing_done,
    reasons,
    record_whole_comparison,
    sum_of_counts,
)
from orchestration.recorder import start_recorder
from resources.pipeline import PIPELINE
from sourcebook.admin.collections import all_givers, apply
from sourcebook.admin.finished_runs import count_runs_to_record, is_recording
from sourcebook.admin.pending import Pending, find_pending
from sourcebook.config.loading import Configuration, sourcebook_home
from sourcebook.config.membership import in_order
from sourcebook.config.names import unknown_collections
from sourcebook.database.database import Database
from sourcebook.database.failures import database_failure_in
from sourcebook.database.lock import check_shard, collection_lock, shard_count
from sourcebook.database.queries import queries
from sourcebook.database.stage_runs import record_stage_run
from sourcebook.errors import ConfigurationError, DatabaseUnavailableError, ModelError, SourcebookError
from sourcebook.indexing.evaluation_settings import configured_evaluation
from sourcebook.indexing.generations import check_first_provider, wanted_embedding
from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard, shards_of
from sourcebook.stages.raw_files.repositories import fetch_repositories
from sourcebook.stages.raw_files.source_records import fetch_records

if TYPE_CHECKING:
    import dagster as dg

    from sourcebook.embedding.embedder_pool import EmbedderPool

__all__ = ["IngestError", "IngestEvents", "IngestedCollection", "ingest"]

_SECONDS_FOR_LEFT_RUNS = 30.0
"""Seconds to wait for the record of runs that an earlier command has left."""
_MOST_ATTEMPTS = 3
"""Attempts at a collection while the database comes and goes."""
_log = logging.getLogger("sourcebook.ingest")


def ingest(
    configuration: Configuration,
    database: Database,
    *,
    collections: list[str],
    selection: Selection,
    events: IngestEvents,
    embedders: "EmbedderPool | None" = None,
    records_beside: bool = False,
    workers: int = 1,
    shards: Sequence[Shard] = (),
) -> Iterator[IngestedCollection]:
    """Apply the configuration and bring collections up to date, one after the other.

    A collection that takes documents of others comes after them. A collection without pending work starts no Dagster
    run.

    Args:
        configuration: the configuration to apply.
        database: the knowledge base.
        collections: names; every collection where empty.
        selection: part of the collections.
        events: callbacks.
        embedders: a pool that stays open, for models that are used again soon; a pool of its own by default.
        records_beside: whether the runs of small changes are recorded by a process that outlives this one; otherwise
            every run is executed in this process.
        workers: processes that bring the shards of a collection up to date at once.
        shards: the only shards that are brought up to date; every shard where empty.

    Raises:
        ConfigurationError: the configuration is invalid, or lacks a collection.
        IngestError: a run failed.
    """
    with database.connection() as connection:
        apply(connection, configuration)
        givers = all_givers(connection)  # of the file's collections and of the API's
    unknown = sorted(set(collections) - set(givers))
    if unknown:
        raise ConfigurationError(unknown_collections(unknown, list(givers)))
    with ExitStack() as stack:
        runs = _Runs(configuration, database, selection, events, embedders, stack, records_beside)
        for name in in_order(collections or givers, givers):
            with database.connection() as connection:
                cut = shards_of(name, shard_count(connection, name))
                for shard in shards:
                    if shard.collection == name:
                        check_shard(connection, name, shard)
            if cut or shards:
                only = [shard for shard in shards if shard.collection == name] if shards else cut
                if only:
                    from orchestration.shard_ingest import ingest_shards

                    yield ingest_shards(runs, name, only, workers, is_part=bool(shards))
                continue
            yield _despite_restarts(runs, name)
        if records_beside:
            _record_left_runs(configuration, database, has_recorder=runs.has_recorder)


def _despite_restarts(runs: "_Runs", name: str) -> IngestedCollection:
    """Bring a collection up to date, and go on from what is done where the database's server was started again."""
    for left in reversed(range(_MOST_ATTEMPTS)):
        try:
            return _bring_up_to_date(runs, name)
        except Exception as error:
            if not left or not _lost_database(error):
                raise
            with runs.database.own_connection():  # the failure is the whole story where the server stays away
                reason = database_failure_in(error) or error
            _log.warning("%s: the ingest goes on after a failure: %s", name, reason, extra={"collection": name})
            runs.reopen()
    raise AssertionError


def _lost_database(error: Exception) -> bool:
    if isinstance(error, IngestError):
        return bool(getattr(error.__cause__, "lost_database", False))
    return isinstance(database_failure_in(error), DatabaseUnavailableError)


def _bring_up_to_date(runs: "_Runs", name: str) -> IngestedCollection:
    """Bring a collection up to date under its lock."""
    database, selection = runs.database, runs.selection
    with collection_lock(database, name, waiting=lambda: runs.events.waiting(name)):
        with database.connection() as connection:
            before = StateBefore.of(connection, name)
            fetch_repositories(connection, name, runs.home, selection)
            fetch_records(connection, name, selection)
            pending = find_pending(connection, name, selection)
            if not pending.work and not selection.force:
                record_whole_comparison(connection, name, selection, pending.settled_parsers)
                return before.result(connection, name, pending, None, nothing_done(connection, name))
        run_id, assets = runs.run_to_the_end(name, pending)
        with database.connection() as connection:
            record_whole_comparison(connection, name, selection)
            unread = reasons(connection, "unread_sites", name)
            return before.result(connection, name, pending, run_id, assets, unread)


@dataclass(slots=True)
class _Runs:
    """The runs of one command: Dagster, its instance and the models are loaded when the first run needs them."""

    configuration: Configuration
    database: Database
    selection: Selection
    events: IngestEvents
    embedders: "EmbedderPool | None"
    stack: ExitStack
    """Closes what the runs have opened."""
    records_beside: bool
    has_recorder: bool = False
    _instance: "dg.DagsterInstance | None" = None

    @property
    def home(self) -> Path:
        """The state folder."""
        return sourcebook_home(self.configuration.path)

    def reopen(self) -> None:
        """Open Dagster's instance anew for the next run: the connections that it keeps are lost."""
        self._instance = None

    def run_to_the_end(self, name: str, pending: Pending, shard: Shard | None = None) -> tuple[str, Counts]:
        """Bring a collection or a shard up to date, in several runs where crawls pause; return the last id, all counts.

        Raises:
            IngestError: a run failed.
        """
        run_id, assets = self.run(name, pending, shard)
        before = None
        while True:
            with self.database.connection() as connection:
                paused = paused_crawls(connection, name, self.selection)
                if not paused or (before is not None and paused >= before):
                    return run_id, assets
                pending = find_pending(connection, name, replace(self.selection, shard=shard))
                if shard is not None and not pending.pages:  # the sites of other shards pause
                    return run_id, assets
            run_id, counts = self.run(name, pending, shard)
            before, assets = paused, sum_of_counts(assets, counts)

    def run(self, name: str, pending: Pending, shard: Shard | None = None) -> tuple[str, Counts]:
        """Bring a collection or a shard up to date; return the id of the run, and the counts of each asset.

        Raises:
            IngestError: the run failed.
        """
        with self.database.connection() as connection:
            has_sites = connection.execute(queries["has_sites"], {"collection": name}).fetchone() == (True,)
            wanted = wanted_embedding(connection, name)
            check_first_provider(connection, name)
            is_evaluated = configured_evaluation(connection, name).queries is not None
        if pending.needs_model:
            with suppress(ModelError):  # the stage that needs the model reports the error
                self._pool().start_early(wanted, self.home, pending.items)
        self.events.started(name, pending)
        begun = time.perf_counter()
        run_id, assets, path = self._run(name, pending, shard, has_sites=has_sites, is_evaluated=is_evaluated)
        outside = time.perf_counter() - begun - sum(counts["seconds"] for counts in assets.values())
        with self.database.connection() as connection:
            record_stage_run(connection, "run", path, 0.0, max(outside, 0.01))
        return run_id, assets

    def _run(
        self, name: str, pending: Pending, shard: Shard | None, *, has_sites: bool, is_evaluated: bool
    ) -> tuple[str, Counts, str]:
        """Run the stages; return the id of the run, the counts of each asset, and how it was executed."""
        # An evaluation takes longer than Dagster: its result is there when the command ends.
        is_unrecorded = self.records_beside and not (has_sites or is_evaluated)
        if is_unrecorded and pending.is_small and not (self.selection.force or self.selection.thorough):
            done = self._ingest_directly(name, pending, shard)
            if done is not None:
                return *done, "small"
        from sourcebook.admin.planning.plan import plan_collection

        with self.database.connection() as connection:
            plan = plan_collection(connection, name, pending).summary
        return *self._execute(shard.key if shard else name, pending, has_sites=has_sites, plan=plan), "job"

    def _ingest_directly(self, name: str, pending: Pending, shard: Shard | None) -> tuple[str, Counts] | None:
        """Do the work of a small change and leave its run to the recorder; None where the work failed.

        The ordinary run goes on from what is done, and records the failure if it fails again. The first failure is
        logged.
        """
        from orchestration.direct_ingest import ingest_directly  # imports the stages

        embedders = self._pool()
        try:
            done = ingest_directly(self.database, name, self.selection, pending, embedders, self.home, shard)
        except (SourcebookError, psycopg.Error, OSError, ArithmeticError) as error:
            _log.warning(
                "%s: the small change failed with %s (%s) and is tried again as a run",
                name, type(error).__name__, error, extra={"collection": name},
            )  # fmt: skip
            return None
        if done is None:
            return None
        run_id, reports = done
        if not self.has_recorder:  # one for all small changes of the command, when the last of them is done
            self.stack.callback(start_recorder, self.configuration.path, self.home)
            self.has_recorder = True
        embedders.wait_for_exports()
        return run_id, {
            asset: reports[asset].counts() if asset in reports else dict.fromkeys(COUNTS, 0) for asset in PIPELINE
        }

    def _execute(self, partition: str, pending: Pending, *, has_sites: bool, plan: str) -> tuple[str, Counts]:
        """Execute a run of a partition in this process."""
        from orchestration.instance import open_instance
        from orchestration.run import RunError, counts_of, execute_run
        from resources.run_uses import Use, uses_of
        from sensors.abandoned_runs import free_abandoned_slots

        if not gc.get_freeze_count():  # once a process: what a run leaves behind is to be collected
            gc.freeze()
        gc.enable()
        if self._instance is None:
            self._instance = open_instance(self.home, self.database)
            self.stack.callback(self._instance.dispose)
        # A step takes a tenth of a second: a collection of texts needs neither a crawl nor transcripts.
        needed = {"crawled_pages": has_sites, "transcripts": pending.has_sound}
        with self.database.connection() as connection:
            uses = uses_of(connection, Shard.of_key(partition)[0], pending)
        if pending.has_sound and free_abandoned_slots(self._instance, self.database, partition):
            self.events.speech_is_busy(partition)
        try:
            result = execute_run(
                self._instance,
                self.database,
                partition,
                tuple(asset for asset in PIPELINE if needed.get(asset, True)),
                configuration=self.configuration.path,
                selection=self.selection,
                embedders=self.embedders,
                plan=plan,
                uses=uses | {Use.SPEECH} if pending.has_sound else uses,
            )
        except RunError as error:
            raise IngestError(f"collection {partition}: {error}") from error
        return result.run_id, {asset: counts_of(result, asset) or dict.fromkeys(COUNTS, 0) for asset in PIPELINE}

    def _pool(self) -> "EmbedderPool":
        if self.embedders is None:
            from sourcebook.embedding.embedder_pool import EmbedderPool

            self.embedders = EmbedderPool()
            self.stack.callback(self.embedders.close)
        return self.embedders


def _record_left_runs(configuration: Configuration, database: Database, *, has_recorder: bool) -> None:
    """Record the finished runs whose recorder was killed; wait for those that no recorder came to within a minute.

    Where processes end with their command, as in a container, a recorder has time only while a command waits for it.
    """
    with database.connection() as connection:
        waiting, overdue = count_runs_to_record(connection)
        if not overdue and (has_recorder or not waiting or is_recording(connection)):
            return
    recorder = start_recorder(configuration.path, sourcebook_home(configuration.path), is_awaited=overdue > 0)
    if overdue:
        with suppress(subprocess.TimeoutExpired):
            recorder.wait(_SECONDS_FOR_LEFT_RUNS)


def paused_crawls(connection: Connection, collection: str, selection: Selection) -> int:
    """Return the number of crawls that paused, so that pages of other sites become searchable, and that go on next."""
    if selection.force or selection.only_failed or selection.documents:
        return 0
    scope = {"collection": collection, "locations": list(selection.sources)}
    row = connection.execute(queries["paused_crawls"], scope).fetchone()
    return int(row[0]) if row else 0
