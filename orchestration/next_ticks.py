"""When the schedules start next, by Dagster's own reckoning of time zones and daylight saving time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import dagster as dg


@dataclass(frozen=True, slots=True)
class NextTick:
    """The next start of a schedule."""

    schedule: str
    cron: str
    """Cron expression of the schedule, in its time zone."""
    time_zone: str
    at: datetime
    """The moment, with the offset that the zone has then."""
    what: str
    """Description of the schedule."""


def next_ticks(schedules: Iterable[dg.ScheduleDefinition], zone: str) -> list[NextTick]:
    """Return the next start of each schedule, the earliest first.

    Args:
        schedules: schedules with one cron expression each.
        zone: name of the time zone in which they start.
    """
    ticks = [
        NextTick(
            schedule.name,
            cron := str(schedule.cron_schedule),
            zone,
            next_start(cron, zone, datetime.now(UTC)),
            schedule.description or "",
        )
        for schedule in schedules
    ]
    return sorted(ticks, key=lambda tick: tick.at)


def next_start(cron: str, zone: str, now: datetime) -> datetime:
    """Return the first moment from `now` on that a cron expression names in a time zone.

    An hour that the clocks leave out is the one after it; one that they repeat counts once.
    """
    # The windows of a partition begin at the ticks of a schedule; of those that have not ended, two are asked for.
    windows = dg.TimeWindowPartitionsDefinition(
        cron_schedule=cron,
        start=now.astimezone(ZoneInfo(zone)),  # Dagster takes the wall clock of what it is given
        timezone=zone,
        fmt="%Y-%m-%dT%H:%M:%S.%f%z",
        end_offset=2,
    )
    first = windows.get_first_partition_window()
    if first is None:  # nobody passes a moment that is years ahead
        raise ValueError(f"{now} is ahead")
    return first.start
