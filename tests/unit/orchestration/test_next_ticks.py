"""When schedules start next: each night once, over every change of the clocks; and the keys of their runs."""

from datetime import UTC, datetime, timedelta

import pytest

from orchestration.next_ticks import next_start, next_ticks
from orchestration.retention import nightly_retention
from orchestration.schedules import moment_of, nightly, weekly

NIGHTLY, LATER, WEEKLY = "0 2 * * *", "30 3 * * *", "0 4 * * 0"


@pytest.mark.parametrize(
    ("zone", "cron", "now", "expected"),
    [
        ("UTC", NIGHTLY, "2026-03-28T12:00+00:00", "2026-03-29T02:00+00:00"),
        ("Asia/Tokyo", NIGHTLY, "2026-03-28T16:59+00:00", "2026-03-29T02:00+09:00"),
        ("Asia/Tokyo", NIGHTLY, "2026-03-28T17:01+00:00", "2026-03-30T02:00+09:00"),
        ("Europe/Berlin", NIGHTLY, "2026-03-28T12:00+00:00", "2026-03-29T03:00+02:00"),  # 02:00 is left out
        ("Europe/Berlin", NIGHTLY, "2026-10-24T12:00+00:00", "2026-10-25T02:00+01:00"),  # 02:00 comes twice
        ("Europe/Berlin", NIGHTLY, "2026-10-25T01:01+00:00", "2026-10-26T02:00+01:00"),
        ("Europe/Athens", LATER, "2026-03-28T12:00+00:00", "2026-03-29T04:00+03:00"),  # 03:30 is left out
        ("America/New_York", NIGHTLY, "2026-03-08T05:00+00:00", "2026-03-08T03:00-04:00"),
        ("Australia/Sydney", WEEKLY, "2026-04-04T12:00+00:00", "2026-04-05T04:00+10:00"),
        ("Asia/Kolkata", WEEKLY, "2026-03-28T12:00+00:00", "2026-03-29T04:00+05:30"),
    ],
)
def test_the_next_start_is_in_the_time_zone(zone: str, cron: str, now: str, expected: str) -> None:
    found = next_start(cron, zone, datetime.fromisoformat(now))
    assert found.astimezone(UTC) == datetime.fromisoformat(expected)
    assert found.utcoffset() == datetime.fromisoformat(expected).utcoffset()


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Europe/Athens", "America/New_York", "Australia/Lord_Howe"])
def test_every_night_has_one_start_and_a_key_of_its_own(zone: str) -> None:
    """In Athens the nights around the change of the clocks have one date in UTC."""
    for day in ("2025-10-23", "2026-03-06", "2026-03-26", "2026-04-02"):
        starts, now = [], datetime.fromisoformat(f"{day}T00:00+00:00")
        for _ in range(6):
            starts.append(next_start(NIGHTLY, zone, now))
            now = starts[-1].astimezone(UTC) + timedelta(seconds=1)
        days = [start.date() for start in starts]
        assert days == [days[0] + timedelta(days=number) for number in range(6)]
        assert len({moment_of(start) for start in starts}) == 6


def test_a_schedule_says_its_zone_and_its_next_start() -> None:
    ticks = next_ticks((nightly, nightly_retention, weekly), "Asia/Tokyo")
    assert {tick.schedule for tick in ticks} == {"nightly", "nightly_retention", "weekly"}
    assert [tick.at for tick in ticks] == sorted(tick.at for tick in ticks)
    assert {tick.at.utcoffset() for tick in ticks} == {timedelta(hours=9)}
    assert all("time zone" in tick.what for tick in ticks)
