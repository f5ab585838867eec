"""Ingest of a collection with several shards: one run for each shard with changes, in this process or in several."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from orchestration.ingest_results import (
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
from orchestration.shard_workers import ShardWorkers
from sourcebook.admin.pending import MOST_SMALL, Pending, find_pending
from sourcebook.config.loading import Configuration, sourcebook_home
from sourcebook.database.database import Database
from sourcebook.database.lock import ShardsAhead, in_turn, is_shard_locked, shard_lock
from sourcebook.indexing.generations import wanted_embedding
from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard
from sourcebook.stages.raw_files import Difference
from sourcebook.stages.raw_files.repositories import fetch_repositories
from sourcebook.stages.raw_files.source_records import fetch_records

_MOST_ROUNDS: Final = 3
"""Times that shards are looked at: the work of one may leave some to another, such as a file that moved."""
_SECONDS_BETWEEN_LOOKS: Final = 0.2


class Runs(Protocol):
    """The runs of one command."""

    configuration: Configuration
    """The configuration that was applied."""
    database: Database
    selection: Selection
    """Part of the collections."""
    events: IngestEvents
    records_beside: bool
    """Whether the runs of small changes are recorded by another process."""

    def run_to_the_end(self, name: str, pending: Pending, shard: Shard | None = None) -> tuple[str, Counts]:
        """Bring a shard up to date; return the id of its last run and the counts of each asset."""


def ingest_shards(runs: Runs, name: str, shards: Sequence[Shard], workers: int, *, is_part: bool) -> IngestedCollection:
    """Bring the shards of a collection up to date.

    Args:
        runs: the runs of this process.
        name: name of the collection.
        shards: its shards, or those of them that this process is to bring up to date.
        workers: processes at most; 1 works in this process.
        is_part: whether other processes bring the other shards up to date: then nobody looks at the collection here.

    Raises:
        ConfigurationError: the number of shards was changed meanwhile.
        IngestError: a run failed.
    """
    database, selection = runs.database, runs.selection
    with database.connection() as connection:
        before = StateBefore.of(connection, name)
        with in_turn(connection, shards[0], "repositories"):
            fetch_repositories(connection, name, sourcebook_home(runs.configuration.path), selection)
            fetch_records(connection, name, selection)
        compared: dict[int, Difference] = {}  # the sources are listed once for all shards
        first = find_pending(
            connection, name, replace(selection, shard=shards[0] if is_part else None), compared=compared
        )
        assets = nothing_done(connection, name)
    run_id: str | None = None
    readings: dict[Shard, str] = {}
    rounds = 1 if is_part else _MOST_ROUNDS if first.work or selection.force else 0
    for number in range(rounds):
        waiting = _waiting(database, name, shards, selection, compared)
        todo = [
            shard
            for shard, pending in waiting.items()
            if (pending.work and readings.get(shard) != pending.fingerprint) or (selection.force and number == 0)
        ]
        if not todo:
            break
        readings = {shard: pending.fingerprint for shard, pending in waiting.items()}
        compared = {source: _taken_in(difference) for source, difference in compared.items()}
        parts = (
            _in_processes(runs, todo, workers)
            if workers > 1 and len(todo) > 1 and not (runs.records_beside and _are_small(waiting, todo))
            else _in_turn(runs, {shard: waiting[shard] for shard in todo})
        )
        for identifier, counts in parts:
            assets = sum_of_counts(assets, counts) if run_id is not None else counts
            run_id = identifier
    with database.connection() as connection:
        if not is_part and not selection.force:
            record_whole_comparison(connection, name, selection)
        return before.result(connection, name, first, run_id, assets, reasons(connection, "unread_sites", name))


def _waiting(
    database: Database, name: str, shards: Sequence[Shard], selection: Selection, compared: dict[int, Difference]
) -> dict[Shard, Pending]:
    """Return the pending work of each shard; sources that are not in `compared` are listed."""
    with database.connection() as connection:
        return {
            shard: find_pending(connection, name, replace(selection, shard=shard), compared=compared)
            for shard in shards
        }


def _are_small(waiting: Mapping[Shard, Pending], shards: Sequence[Shard]) -> bool:
    """Return whether shards together have a small change, which is done before another process has begun."""
    pending = [waiting[shard] for shard in shards]
    return all(each.is_small for each in pending) and sum(each.items for each in pending) <= MOST_SMALL


def _taken_in(difference: Difference) -> Difference:
    """Return a difference without its files: runs have taken them in, and what they leave is in the ledger."""
    return replace(difference, to_read=[], known={}, gone=[], new_folders=[])


@contextmanager
def _ahead(database: Database, shards: Sequence[Shard]) -> Iterator[ShardsAhead]:
    with database.own_connection() as session:
        yield ShardsAhead(session, shards)


def _in_turn(runs: Runs, shards: Mapping[Shard, Pending]) -> Iterator[tuple[str, Counts]]:
    """Run the shards in this process, one after the other."""
    with _ahead(runs.database, list(shards)) as ahead:
        for shard, pending in shards.items():
            with shard_lock(runs.database, shard, waiting=lambda shard=shard: runs.events.waiting(shard.key)):  # type: ignore[misc]
                ahead.begin(shard)
                result = runs.run_to_the_end(shard.collection, pending, shard)
            yield result


def _in_processes(runs: Runs, shards: Sequence[Shard], workers: int) -> Iterator[tuple[str, Counts]]:
    """Run the shards in processes that each execute this command for some of them."""
    own = [list(shards[number::workers]) for number in range(min(workers, len(shards)))]
    worker_of = {shard: number for number, some in enumerate(own) for shard in some}
    with _ahead(runs.database, shards) as ahead, runs.database.connection() as connection:
        uses_provider = wanted_embedding(connection, shards[0].collection).provider is not None
        commands = [_command(runs.configuration.path, some, runs.selection) for some in own]
        with ShardWorkers(commands, uses_provider=uses_provider) as started:
            left = list(shards)
            while left:  # the first one that ends must not take itself for the last one
                for shard in list(left):
                    if started.has_ended(worker_of[shard]) or is_shard_locked(connection, shard):
                        ahead.begin(shard)
                        left.remove(shard)
                time.sleep(_SECONDS_BETWEEN_LOOKS)
            failures: list[str] = []
            for number, mine in enumerate(own):  # one that fails ends none of the others
                end = started.outcome(number)
                if end.problem is None:
                    yield mine[0].key, json.loads(end.output)["collections"][mine[0].collection]
                else:
                    failures.append(f"the worker of {mine[0].key} failed: {end.problem}")
    if failures:
        rest = "the next ingest does what is left"
        raise IngestError(f"collection {shards[0].collection}: {'; '.join(failures)}; {rest}")


def _command(configuration: Path, shards: Sequence[Shard], selection: Selection) -> list[str]:
    options = [
        *(part for uri in selection.documents for part in ("--document", uri)),
        *(part for location in selection.sources for part in ("--source", location)),
        *(part for shard in shards for part in ("--shard", shard.key)),
        *(["--only-failed"] if selection.only_failed else []),
        *(["--force"] if selection.force else []),
        *(["--accept"] if selection.accept else []),
    ]
    return ["--config", str(configuration), "ingest", "--json", "--collection", shards[0].collection, *options]
