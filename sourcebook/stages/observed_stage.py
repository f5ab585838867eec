"""Observation of stages: a span, a log line, counters and the log context around each call, and a look at the lock."""

import logging
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from psycopg import Connection

from sourcebook.database.lock import check_lock
from sourcebook.database.stage_runs import record_stage_run
from sourcebook.model.generation import Generation
from sourcebook.model.report import StageReport
from sourcebook.telemetry.log_context import log_context
from sourcebook.telemetry.measurements import (
    CACHE_HITS,
    CACHE_MISSES,
    STAGE_ITEMS,
    STAGE_RUNS,
    STAGE_SECONDS,
    measurements,
)
from sourcebook.telemetry.spans import describe, span

_log = logging.getLogger("sourcebook.stages")
_MOST_LOGGED = 100
"""Failures of one stage that are logged one by one."""
_OUTCOMES = ("added", "changed", "removed", "failed")
_CACHES = ("embeddings", "transcripts")
"""Stages whose reports count results that a cache of the same name had."""
Parameters = ParamSpec("Parameters")


def observed_stage(stage: str) -> Callable[[Callable[Parameters, StageReport]], Callable[Parameters, StageReport]]:
    """Return a decorator that observes a stage's function.

    Args:
        stage: name of the stage's asset.
    """

    def decorate(work: Callable[Parameters, StageReport]) -> Callable[Parameters, StageReport]:
        @wraps(work)
        def observed(*args: Parameters.args, **kwargs: Parameters.kwargs) -> StageReport:
            collection = _collection((*args, *kwargs.values()))
            started = time.perf_counter()
            fields = {"collection": collection}
            with log_context(**fields), span(f"stage.{stage}", fields) as current:
                try:
                    _check_lock((*args, *kwargs.values()), collection)
                    report = work(*args, **kwargs)
                except Exception as error:
                    measurements.record(STAGE_RUNS, 1, stage, "error")
                    measurements.record(STAGE_SECONDS, time.perf_counter() - started, stage)
                    _log.error("%s ended with %s: %s", stage, type(error).__name__, error, extra={"stage": stage})
                    raise
                _count(stage, report, time.perf_counter() - started)
                _record((*args, *kwargs.values()), stage, report, time.perf_counter() - started)
                _log_report(stage, report)
                describe(current, {name: getattr(report, name) for name in _OUTCOMES})
                return report

        return observed

    return decorate


def _collection(arguments: tuple[Any, ...]) -> str:
    """Return the collection that a stage works on: its name, or the one of its generation."""
    for argument in arguments:
        if isinstance(argument, Generation):
            return argument.collection
        if isinstance(argument, str):
            return argument
    return ""


def _check_lock(arguments: tuple[Any, ...], collection: str) -> None:
    """Go on only while the lock of the collection, where this process took it, is still held.

    Raises:
        DatabaseConnectionLostError: the lock was lost.
    """
    for argument in arguments:
        if isinstance(argument, Connection):
            check_lock(argument, collection)
            return


def _record(arguments: tuple[Any, ...], stage: str, report: StageReport, seconds: float) -> None:
    """Keep the work of a stage with its seconds, for forecasts."""
    if not report.work:
        return
    connection = next(argument for argument in arguments if isinstance(argument, Connection))
    models = (argument.model for argument in arguments if isinstance(argument, Generation) and stage == "embeddings")
    record_stage_run(connection, stage, next(models, ""), report.work, seconds)


def _count(stage: str, report: StageReport, seconds: float) -> None:
    measurements.record(STAGE_RUNS, 1, stage, "ok")
    measurements.record(STAGE_SECONDS, seconds, stage)
    for outcome in _OUTCOMES:
        number = getattr(report, outcome)
        if number:
            measurements.record(STAGE_ITEMS, number, stage, outcome)
    if stage in _CACHES:
        reused = report.extra.get("reused", 0)
        computed = report.extra.get("computed", max(report.added + report.changed - reused, 0))
        measurements.record(CACHE_HITS, reused, stage)
        measurements.record(CACHE_MISSES, computed, stage)


def _log_report(stage: str, report: StageReport) -> None:
    for failure in report.failures[:_MOST_LOGGED]:
        _log.warning("%s failed: %s", failure.uri, failure.reason, extra={"stage": stage, "document": failure.uri})
    counts = {outcome: getattr(report, outcome) for outcome in _OUTCOMES}
    summary = ", ".join(f"{number:,} {outcome}" for outcome, number in counts.items() if number) or "nothing changed"
    level = logging.INFO if report.worked else logging.DEBUG
    _log.log(level, "%s: %s in %.2f s", stage, summary, report.seconds, extra={"stage": stage, **counts})
