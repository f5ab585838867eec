"""Ingest with its output: progress and results for a terminal, or one JSON object."""

import time
from typing import TYPE_CHECKING, Any

import typer

from sourcebook.cli.errors import FAILED_ITEMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourcebook.config.loading import Configuration
    from sourcebook.database.database import Database
    from sourcebook.model.selection import Selection
    from sourcebook.model.shard import Shard


def run_and_show(
    configuration: "Configuration",
    database: "Database",
    *,
    collections: list[str],
    selection: "Selection",
    as_json: bool,
    records_beside: bool = False,
    strict: bool = True,
    workers: int = 1,
    shards: "Sequence[Shard]" = (),
) -> None:
    """Bring collections up to date with progress bars on stderr, or with one JSON object on stdout.

    Args:
        configuration: the configuration to apply.
        database: the knowledge base.
        collections: names; every collection where empty.
        selection: part of the collections.
        as_json: whether to print one JSON object and nothing else.
        records_beside: whether the runs of small changes are recorded by a process that outlives this one.
        strict: whether items that had failed before count as much as new ones.
        workers: processes that bring the shards of a collection up to date at once.
        shards: the only shards that are brought up to date; every shard where empty.

    Raises:
        typer.Exit: items failed; exit code 3.
    """
    from orchestration.ingest import IngestEvents, ingest
    from orchestration.progress_display import ProgressDisplay
    from sourcebook.admin.unmatched_roots import root_warnings
    from sourcebook.cli.output import print_json

    started = time.perf_counter()
    failed = new = 0
    outcomes: dict[str, dict[str, Any]] = {}
    sites: dict[str, dict[str, Any]] = {}
    with ProgressDisplay(quiet=as_json) as display:
        display.warn(root_warnings(configuration, collections))
        events = IngestEvents(display.waiting, display.started, display.speech_is_busy)
        for done in ingest(
            configuration,
            database,
            collections=collections,
            selection=selection,
            events=events,
            records_beside=records_beside,
            workers=workers,
            shards=shards,
        ):
            failed += done.failed_items
            new += len(done.new_failures)
            outcomes[done.name] = done.assets
            if done.crawl_notes is not None:
                sites[done.name] = done.crawl_notes.as_dict()
            display.finished(done)
    if as_json:
        print_json(
            {
                "collections": outcomes,
                "sites": sites,
                "failed_items": failed,
                "new_failed_items": new,
                "seconds": round(time.perf_counter() - started, 3),
            }
        )
    if failed if strict else new:
        raise typer.Exit(FAILED_ITEMS)
