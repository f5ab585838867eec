"""The rules by which every sensor requests a run of a collection or skips it."""

import hashlib
import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import dagster as dg
from psycopg import Connection

from resources.knowledge import Knowledge
from resources.partition import COLLECTIONS, EVERYTHING, PARTITION
from resources.run_uses import PLAN, Use, assets_of, queued_run_tags
from resources.source_events import freshness_evaluation, observation
from sensors.abandoned_runs import (
    IN_PROCESS,
    active_runs,
    end_runs_of_no_collection,
    is_of_a_part,
    partitions_with_unfinished_runs,
)
from sensors.run_failures import MOST_COUNTED, failure_of, seconds_to_wait
from sourcebook.admin.overdue import describe_overdue
from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.model.shard import Shard

CHANGES = "sourcebook/changes"
"""Tag of a run with the fingerprint of the changes that it was requested for."""
SECONDS_AT_REST = 10.0
"""Seconds for which a file must not have changed before a sensor's run takes it; those of the watch take it earlier."""
_DIGITS = 12
"""Hexadecimal digits of a fingerprint in a tag."""
_SECONDS_FOR_DAGSTER = 20.0
"""Seconds that Dagster's daemon gets to retry a killed run before a sensor does."""


@dataclass(frozen=True, slots=True)
class Look:
    """The result of a look at the sources of one collection."""

    outcome: dg.RunRequest | str
    """Run request, or the reason for having none."""
    reading: str | None = None
    """Fingerprint of the changes; None where there are none."""
    counts: dict[str, int] = field(default_factory=dict)
    """Numbers of differing items by name, for the observation of a new reading."""
    since: dict[str, float] = field(default_factory=dict)
    """Times of the first look at each change, for the next look; see `first_seen`."""


@dataclass(frozen=True, slots=True)
class Before:
    """Findings of the last look at a partition."""

    reading: str | None = None
    since: dict[str, float] = field(default_factory=dict)


def look_at_collections(
    context: dg.SensorEvaluationContext,
    knowledge: Knowledge,
    source: dg.AssetKey,
    look: Callable[[Database, str, Before], Look],
) -> dg.SensorResult:
    """Request runs for the partitions, and report on their sources.

    A partition has one run of this kind at a time. One that works on a part of the partition, such as on an upload, is
    not waited for: under constant requests there would be no other.

    The cursor contains the last reading of each partition and the collections' sources that are not fresh.

    Args:
        context: context of the sensor.
        knowledge: the database, opened once for all collections.
        source: key of the source asset.
        look: looks at one partition; its arguments are the database, the partition's key and what the last look found.
    """
    before = _Cursor.of(context.cursor)
    after = _Cursor()
    requests: list[dg.RunRequest] = []
    reasons: dict[str, list[str]] = {}
    events: list[dg.AssetObservation | dg.AssetMaterialization | dg.AssetCheckEvaluation] = []
    with knowledge.opened() as database:
        partitions = sorted(context.instance.get_dynamic_partitions(COLLECTIONS))
        collections = {Shard.of_key(partition)[0] for partition in partitions}
        with database.connection() as connection:
            overdue = describe_overdue(connection, source.to_user_string())
        busy = partitions_with_unfinished_runs(context.instance)
        if "" in busy:
            end_runs_of_no_collection(context.instance)
        after.late = {collection: text for collection, text in overdue.items() if collection in collections}
        if after.late != before.late:
            events.append(freshness_evaluation(source, after.late))
        for partition in partitions:
            active = active_runs(context.instance, database, partition) if partition in busy else []
            active = [run for run in active if not is_of_a_part(run)]
            if active:
                reasons.setdefault(f"a run is in progress ({active[0].run_id[:8]})", []).append(partition)
                continue
            found = look(database, partition, Before(before.seen.get(partition), before.since.get(partition, {})))
            if found.since:
                after.since[partition] = found.since
            if found.reading is not None:
                after.seen[partition] = found.reading
                is_new = found.reading != before.seen.get(partition)
                if is_new and (partition not in before.seen or isinstance(found.outcome, dg.RunRequest)):
                    events.append(observation(source, partition, found.reading, found.counts))
            if isinstance(found.outcome, dg.RunRequest):
                requests.append(found.outcome)
            else:
                reasons.setdefault(found.outcome, []).append(partition)
    reason = "; ".join(f"{why}: {', '.join(names)}" for why, names in reasons.items())
    return dg.SensorResult(
        run_requests=requests,
        skip_reason=None if requests else reason or "there is no collection yet",
        asset_events=events,
        cursor=after.text(),
    )


def request_run(
    instance: dg.DagsterInstance,
    connection: Connection,
    partition: str,
    reading: str,
    plan: Callable[[], str] | None = None,
    *,
    uses: Collection[Use] = (),
    at_rest: float = SECONDS_AT_REST,
) -> str | dg.RunRequest:
    """Return a run request, or the reason for having none: the last runs for these changes failed or settled nothing.

    After an infrastructure failure the first retry starts at once, and each further one after twice the time; so does
    each run after a successful one that left the changes as they were. After a deterministic failure the collection
    waits for a change of its content or settings, or for the nightly run.

    Args:
        instance: the Dagster instance.
        connection: to the knowledge base.
        partition: the key of the partition.
        reading: digest of the changes.
        plan: returns the text of the tag `sourcebook/plan`; called for a run that is requested.
        uses: what the run uses, by which the queue limits it.
        at_rest: seconds for which a file must not have changed; 0 takes those that are being written, too.

    Raises:
        ConfigurationError: the file with the tags of runs is missing or malformed.
    """
    fingerprint = _fingerprint(connection, Shard.of_key(partition)[0], reading)
    of_changes = dg.RunsFilter(tags={CHANGES: fingerprint, PARTITION: partition})
    earlier = instance.get_run_records(of_changes, limit=MOST_COUNTED)  # each hour adds one where a failure stays
    if earlier and earlier[0].dagster_run.status == dg.DagsterRunStatus.FAILURE:
        last = earlier[0]
        failure = failure_of(instance, last.dagster_run.run_id)
        if failure.is_deterministic:
            return f"the last run failed and waits for a change of content or settings ({failure.reason})"
        wait = seconds_to_wait(_latest(earlier, dg.DagsterRunStatus.FAILURE))
        if _is_retried_by_dagster(last):
            wait = max(wait, _SECONDS_FOR_DAGSTER)
        left = (last.end_time or 0) + wait - time.time()
        if 0 < left <= wait:  # more is left where a clock that was ahead recorded the end
            return f"the last run failed and is retried within {left:.0f} s ({failure.reason})"
    if earlier and earlier[0].dagster_run.status == dg.DagsterRunStatus.SUCCESS:
        runs = _latest(earlier, dg.DagsterRunStatus.SUCCESS)
        wait = seconds_to_wait(runs)
        left = (earlier[0].end_time or 0) + wait - time.time()
        if 0 < left <= wait:
            return (
                f"the last {runs} runs succeeded and left the changes as they were; the next one starts within "
                f"{left:.0f} s"
            )
    number = earlier[0].dagster_run.run_id[:8] if earlier else "first"
    return dg.RunRequest(
        run_key=f"{partition}:{fingerprint}:{number}",
        partition_key=partition,
        asset_selection=assets_of(uses),
        run_config={"resources": {"selection": {"config": {"at_rest": at_rest}}}},
        tags={CHANGES: fingerprint, EVERYTHING: "true", **({PLAN: plan()} if plan else {}), **queued_run_tags(uses)},
    )


def last_taken(instance: dg.DagsterInstance, partition: str) -> float:
    """Return the start of the last run that took every change of a partition and succeeded; 0 before the first."""
    taken = dg.RunsFilter(tags={PARTITION: partition, EVERYTHING: "true"}, statuses=[dg.DagsterRunStatus.SUCCESS])
    return next((record.start_time or 0.0 for record in instance.get_run_records(taken, limit=1)), 0.0)


@dataclass(slots=True)
class _Cursor:
    """Readings and overdue sources that a sensor keeps from tick to tick."""

    seen: dict[str, str] = field(default_factory=dict)
    """Last reading of each partition."""
    late: dict[str, str] | None = None
    """Sources that are not fresh by collection; None before the first look."""
    since: dict[str, dict[str, float]] = field(default_factory=dict)
    """Times of the first look at each change by partition."""

    @classmethod
    def of(cls, text: str | None) -> "_Cursor":
        known: dict[str, Any] = json.loads(text or "{}")
        return cls(**known) if known.keys() == {"seen", "late", "since"} else cls()

    def text(self) -> str:
        return json.dumps({"seen": self.seen, "late": self.late, "since": self.since})


def _fingerprint(connection: Connection, collection: str, reading: str) -> str:
    """Return a digest of the changes and of the settings that a run would use."""
    row = connection.execute(queries["settings_digest"], {"collection": collection}).fetchone()
    return hashlib.sha256(f"{reading} {row and row[0]}".encode()).hexdigest()[:_DIGITS]


def _latest(records: Sequence[dg.RunRecord], status: dg.DagsterRunStatus) -> int:
    """Return the number of runs since the last one that did not end with a status; the newest run comes first."""
    return sum(1 for _ in takewhile(lambda record: record.dagster_run.status == status, records))


def _is_retried_by_dagster(record: dg.RunRecord) -> bool:
    run = record.dagster_run
    return IN_PROCESS not in run.tags and run.tags.get("dagster/will_retry") == "true"
