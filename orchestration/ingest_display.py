"""Ingest with its output: progress and results for a terminal, or one JSON object."""

import time
from typing import TYPE_CHECKING, Any

import typer

from sourcebook.cli.errors import FAILED_ITEMS
from sourcebook.config.loading import Configuration
from sourcebook.database.database import Database
from sourcebook.model.selection import Selection

if TYPE_CHECKING:
    from orchestration.recorder import RunRecorder


def run_and_show(
    configuration: Configuration,
    database: Database,
    *,
    collections: list[str],
    selection: Selection,
    as_json: bool,
    recorder: "RunRecorder | None" = None,
) -> None:
    """Bring collections up to date with progress bars on stderr, or with one JSON object on stdout.

    Raises:
        typer.Exit: items failed; exit code 3.
    """
    from orchestration.ingest import IngestEvents, ingest
    from orchestration.progress_display import ProgressDisplay
    from sourcebook.cli.output import print_json

    started = time.perf_counter()
    failed = 0
    outcomes: dict[str, dict[str, Any]] = {}
    with ProgressDisplay(quiet=as_json) as display:
        events = IngestEvents(display.waiting, display.started, display.speech_is_busy)
        for done in ingest(
            configuration, database, collections=collections, selection=selection, events=events, recorder=recorder
        ):
            failed += done.failed_items
            outcomes[done.name] = done.assets
            display.finished(done)
    if as_json:
        print_json(
            {"collections": outcomes, "failed_items": failed, "seconds": round(time.perf_counter() - started, 3)}
        )
    if failed:
        raise typer.Exit(FAILED_ITEMS)
