"""Where long work reports to: the run's log, or a terminal."""

import time
from collections.abc import Callable

import dagster as dg

from sourcebook.progress import Progress

_SECONDS_BETWEEN_LINES = 5.0

_terminal: list[Callable[[str, str, int, int], None]] = []


class ProgressLog(dg.ConfigurableResource["ProgressLog"]):
    """Writes done/total and rate to the run's log every few seconds, never a line a document."""

    def reporter(self, context: dg.AssetExecutionContext, unit: str) -> Progress:
        """Return what a stage calls after each batch.

        Args:
            context: of the asset that works.
            unit: what is counted, in the plural.
        """
        stage = context.asset_key.to_user_string()
        started = time.perf_counter()
        last = started

        def report(done: int, total: int) -> None:
            nonlocal last
            now = time.perf_counter()
            for show in _terminal:
                show(stage, context.partition_key, done, total)
            if now - last >= _SECONDS_BETWEEN_LINES:
                last = now
                context.log.info(f"{done:,} of {total:,} {unit}, {done / (now - started):,.1f} a second")

        return report


class show_in_terminal:  # noqa: N801 - a context manager, read as a verb
    """Show the progress of runs in this process: `show(stage, collection, done, total)`."""

    def __init__(self, show: Callable[[str, str, int, int], None]) -> None:
        self._show = show

    def __enter__(self) -> None:
        _terminal.append(self._show)

    def __exit__(self, *error: object) -> None:
        _terminal.remove(self._show)
