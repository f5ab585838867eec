"""A clock that was ahead and is set back: what it recorded in the future makes nothing wait for that future."""

import os
import time

import dagster as dg
import psycopg
import pytest
from psycopg.types.json import Json

from orchestration.clock_watch import ClockWatch
from resources.partition import PARTITION
from sensors.abandoned_runs import IN_PROCESS, active_runs
from sensors.run_requests import request_run
from sourcebook.admin.checks import run_checks
from sourcebook.admin.freshness import read_freshness, record_comparison
from sourcebook.database.database import Database
from tests.integration.stages import Stages

INSERT_SENSOR = """
INSERT INTO instigators (selector_id, repository_selector_id, status, instigator_type, instigator_body)
VALUES (%s, 'sourcebook', 'RUNNING', 'SENSOR', %s)
"""
INSERT_TICK = """
INSERT INTO job_ticks (job_origin_id, selector_id, status, type, timestamp)
VALUES (%s, %s, 'SKIPPED', 'SENSOR', to_timestamp(%s) AT TIME ZONE 'UTC')
"""
KEPT_OF_SENSORS = "SELECT selector_id, instigator_body::jsonb -> 'job_specific_data' FROM instigators"
YEAR = 365 * 86_400


def test_an_edit_of_a_file_from_the_future_that_keeps_size_and_time_is_noticed(stages: Stages) -> None:
    """The file's clock says nothing about the second between two writes."""
    path = stages.write("a.md", "The flag is green.")
    moment = time.time() + YEAR
    os.utime(path, (moment, moment))
    stages.configure()
    stages.run()
    path.write_text("The flag is white.")
    os.utime(path, (moment, moment))
    assert stages.run()["raw_files"].changed == 1
    assert (stages.found("white"), stages.found("green")) == ({"a.md"}, set())


def test_a_file_from_the_future_is_trusted_after_a_second_look(stages: Stages) -> None:
    """Two looks that agree, more than two seconds apart: its content is read no third time, unless it is written."""
    path = stages.write("a.md", "From the future.")
    moment = time.time() + YEAR
    os.utime(path, (moment, moment))
    stages.configure()
    stages.run()
    stages.rows("UPDATE raw_file SET hashed_at = hashed_at - interval '3 seconds' RETURNING 1")
    stages.raw_files()
    (row,) = stages.rows("SELECT hashed_at > now() + interval '300 days' AS trusted FROM raw_file")
    assert row["trusted"]
    assert not stages.pending().work
    path.write_text("from the future.")
    os.utime(path, (moment, moment))
    assert stages.pending().changed_files == 1, "its change time says so"


@pytest.mark.parametrize("table", ["raw_file", "document"])
def test_a_retry_in_a_year_is_due(stages: Stages, table: str) -> None:
    """No retry waits longer than a day."""
    stages.write("a.md", "The tide is high.")
    stages.configure()
    stages.run()
    stages.rows(
        f"UPDATE {table} SET failure = 'it broke', attempts = 1, next_retry_at = now() + interval '1 hour' RETURNING 1"
    )
    assert not stages.pending().work
    stages.rows(f"UPDATE {table} SET next_retry_at = now() + interval '1 year' RETURNING 1")
    assert stages.pending().work
    stages.run()
    assert not stages.rows(f"SELECT FROM {table} WHERE failure IS NOT NULL")


def test_a_site_whose_next_crawl_is_in_a_year_is_due(stages: Stages) -> None:
    """Neither its refresh interval nor any pause is as long."""
    stages.web.page("/", "<html><title>Tides</title><h1>High water</h1><p>The mark is blue.</p></html>")
    stages.configure_site()
    stages.run()
    assert not stages.pending().pages
    stages.rows("UPDATE source SET next_crawl_at = now() + interval '1 year' RETURNING 1")
    assert stages.pending().pages
    stages.web.page("/", "<html><title>Tides</title><h1>High water</h1><p>The mark is red.</p></html>")
    stages.run()
    assert stages.found("red")


def test_a_page_that_was_gone_in_the_future_is_requested_when_it_is_linked_again(stages: Stages) -> None:
    """It was requested before this crawl, whatever the time says."""
    page = "<html><title>Tides</title><h1>High water</h1><p>The mark is blue.</p><a href=/a>A</a></html>"
    other = "<html><title>A</title><h1>Low water</h1><p>The mark is red.</p></html>"
    stages.web.page("/", page)
    stages.web.page("/a", other)
    stages.configure_site()
    stages.run()
    stages.web.page("/a", "gone", status=404)
    stages.refresh()
    assert (stages.frontier("/a")["state"], stages.pages()) == ("gone", {"/"})
    stages.rows("UPDATE frontier SET attempted_at = now() + interval '1 year' RETURNING 1")
    stages.rows("UPDATE crawled_page SET removed_at = removed_at - interval '60 days' RETURNING 1")
    stages.web.page("/a", other)
    stages.refresh()
    assert stages.pages() == {"/", "/a"}


def test_a_second_change_on_the_day_of_the_sitemap_is_seen_after_a_fetch_in_the_future(stages: Stages) -> None:
    """A date in a sitemap counts from the second day on, and no page was fetched on a day that is yet to come."""
    today = time.strftime("%Y-%m-%d", time.gmtime())
    stages.web.page("/a", "<html><title>A</title><h1>High water</h1><p>The mark is blue.</p></html>")
    stages.web.sitemap("/sitemap.xml", [("/a", today)])
    stages.configure_site("/sitemap.xml")
    stages.run()
    stages.rows("UPDATE crawled_page SET fetched_at = now() + interval '1 year' RETURNING 1")
    stages.web.page("/a", "<html><title>A</title><h1>High water</h1><p>The mark is red.</p></html>")
    stages.refresh()
    stages.run()
    assert stages.found("red")


def test_a_comparison_in_the_future_is_recorded_again(stages: Stages) -> None:
    """Otherwise the freshness would look good until then, whatever happens."""
    stages.configure()
    with stages.connection() as connection:
        for behind in (False, True):
            record_comparison(connection, "handbook", behind=behind)
            stages.rows(
                "UPDATE freshness SET compared_at = now() + interval '1 year', "
                "behind_since = behind_since + interval '1 year' RETURNING 1"
            )
            record_comparison(connection, "handbook", behind=behind)
            (freshness,) = read_freshness(connection)
            assert freshness.compared_ago is not None
            assert freshness.compared_ago >= 0
            assert not stages.rows("SELECT FROM freshness WHERE behind_since > now()")


def test_checks_after_a_clock_that_was_ahead_look_at_everything(stages: Stages) -> None:
    """They look at what changed since the last checks, which were a year ahead."""
    stages.write("a.md", "The tide is high.")
    stages.configure()
    stages.run()
    with stages.connection() as connection:
        run_checks(connection, "handbook")
        stages.rows("UPDATE collection SET checked_at = checked_at + interval '1 year' RETURNING 1")
        stages.rows("DELETE FROM search_entry RETURNING 1")
        stages.rows("DELETE FROM changed_document RETURNING 1")
        found = {outcome.name: outcome.violations for outcome in run_checks(connection, "handbook", thorough=False)}
    assert found["every_live_document_is_searchable"] == 1


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTED])
def test_a_killed_run_from_the_future_blocks_nothing(
    database: Database, instance: dg.DagsterInstance, status: dg.DagsterRunStatus
) -> None:
    """A run that was made or started a year ahead and whose lock nobody holds is abandoned."""
    run = instance.add_run(dg.DagsterRun("ingest", tags={PARTITION: "handbook"}, status=status))
    with psycopg.connect(database.url) as connection:
        connection.execute(
            "UPDATE runs SET create_timestamp = create_timestamp + interval '1 year', start_time = %s",
            [time.time() + YEAR],
        )
    assert active_runs(instance, database, "handbook") == []
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    assert found.status == dg.DagsterRunStatus.FAILURE


def test_a_run_that_failed_in_the_future_is_retried_now(
    stages: Stages, instance: dg.DagsterInstance, database: Database
) -> None:
    """Not in a year."""
    stages.configure()
    for _ in range(2):
        with stages.connection() as connection:
            request = request_run(instance, connection, "handbook", "0123456789abcdef")
        assert isinstance(request, dg.RunRequest), request
        tags = {**request.tags, PARTITION: "handbook", IN_PROCESS: "ingest", "dagster/max_retries": "0"}
        run = instance.add_run(dg.DagsterRun("ingest", tags=tags, status=dg.DagsterRunStatus.STARTED))
        instance.report_run_failed(run, "The process of the run was killed.")
    with psycopg.connect(database.url) as connection:
        connection.execute("UPDATE runs SET end_time = end_time + %s", [YEAR])
    with stages.connection() as connection:
        assert isinstance(request_run(instance, connection, "handbook", "0123456789abcdef"), dg.RunRequest)


def test_a_sensor_that_was_evaluated_in_the_future_is_evaluated_now(
    database: Database, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dagster would wait for that time; its daemon, which sleeps until then, starts again."""
    present = time.time()
    with psycopg.connect(database.url, autocommit=True) as connection:
        for selector, moment in (("ahead", present + YEAR), ("good", present - 10)):
            kept = {"last_tick_timestamp": moment, "last_tick_start_timestamp": moment, "cursor": selector}
            connection.execute(INSERT_SENSOR, [selector, Json({"job_specific_data": kept})])
            connection.execute(INSERT_TICK, [selector, selector, moment])

    monkeypatch.setattr(Database, "dagster_url", lambda self: self.url)
    restarted: list[float] = []
    clock = [present]
    watch = ClockWatch(database, lambda: restarted.append(clock[0]), lambda: clock[0])
    watch.check()
    with psycopg.connect(database.url) as connection:
        states: dict[str, object] = dict(connection.execute(KEPT_OF_SENSORS).fetchall())
        assert connection.execute("SELECT selector_id FROM job_ticks").fetchall() == [("good",)]
    assert states == {
        "ahead": {"last_tick_timestamp": None, "last_tick_start_timestamp": None, "cursor": "ahead"},
        "good": {"last_tick_timestamp": present - 10, "last_tick_start_timestamp": present - 10, "cursor": "good"},
    }
    assert not restarted
    clock[0] += YEAR
    watch.check()
    assert not restarted, "a clock that was set ahead makes nothing wait"
    clock[0] -= YEAR
    watch.check()
    assert len(restarted) == 1
