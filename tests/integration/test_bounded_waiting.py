"""Nothing that feeds a collection keeps its other changes waiting without bound, and what waits for long is said."""

import json
import os
import time
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from resources.partition import EVERYTHING, PART, PARTITION
from sensors.changed_files import changed_files_sensor
from sensors.run_requests import SECONDS_AT_REST
from sourcebook.admin.freshness import read_freshness
from sourcebook.admin.health import Thresholds, ledger_findings
from sourcebook.admin.overdue import describe_overdue
from sourcebook.model.selection import Selection
from sourcebook.stages import crawled_pages, other_work
from sourcebook.stages.crawled_pages import update_crawled_pages
from sourcebook.stages.other_work import OtherWork
from sourcebook.stages.raw_files import update_raw_files
from tests.integration.stages import Stages, html
from tests.integration.test_configuration_mistakes import tick


@pytest.fixture
def handbook(stages: Stages, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> Stages:
    """One collection that is up to date, and a file of it that somebody appends to without a pause."""
    monkeypatch.setenv("SOURCEBOOK_HOME", str(stages.root.parent / "home"))
    monkeypatch.setenv("SOURCEBOOK_CONFIG", str(stages.root.parent / "sourcebook.yaml"))
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", stages.database.url)
    stages.configure()
    stages.write("growing.md", "# Log\n")
    stages.write("old.md", "# Old\n\nThe light is green.\n")
    stages.run()
    return stages


def aged(result: dg.SensorResult, seconds: float) -> str:
    """Return the cursor of a tick as if that had been some seconds earlier."""
    cursor = json.loads(result.cursor or "")
    for since in cursor["since"].values():
        since.update({key: moment - seconds for key, moment in since.items()})
    return json.dumps(cursor)


def append(stages: Stages) -> Path:
    """Write to the file that never rests, now."""
    path = stages.root / "growing.md"
    with path.open("a") as file:
        file.write("More of it.\n")
    return path


def at_rest(result: dg.SensorResult) -> float:
    """Return the seconds of rest that the only requested run asks of files."""
    (request,) = result.run_requests or ()
    assert request.tags[EVERYTHING] == "true"
    return float(request.run_config["resources"]["selection"]["config"]["at_rest"])


def test_a_file_that_never_rests_holds_up_no_other(handbook: Stages, instance: dg.DagsterInstance) -> None:
    """What rests is taken, the other is left to a later run, a minute later at most."""
    append(handbook)
    handbook.write("added.md", "# Added\n\nThe light is red.\n")
    first = tick(changed_files_sensor, instance)
    assert not first.run_requests
    append(handbook)
    assert at_rest(tick(changed_files_sensor, instance, aged(first, 10))) == SECONDS_AT_REST
    with handbook.connection() as connection:
        report = update_raw_files(connection, "handbook", Selection(at_rest=SECONDS_AT_REST))
        assert (report.added, report.changed) == (1, 0)
        connection.execute("UPDATE raw_file SET hashed_at = hashed_at - interval '2 minutes'")
    append(handbook)
    assert at_rest(tick(changed_files_sensor, instance, aged(first, 61))) == 0.0
    handbook.run()
    append(handbook)
    left = tick(changed_files_sensor, instance, aged(first, 61))
    assert "1 files are being written: handbook" in str(left.skip_reason), "it was taken a moment ago"


def test_readings_that_never_agree_hold_up_nothing(handbook: Stages, instance: dg.DagsterInstance) -> None:
    """Under constant changes a run comes for one that is there at three looks, and for none that is not."""
    looked = tick(changed_files_sensor, instance)
    for number in range(3):  # each is taken by the watch before the next look
        path = handbook.write(f"{number}.md", f"# {number}\n")
        looked = tick(changed_files_sensor, instance, aged(looked, 10))
        assert not looked.run_requests
        path.unlink()
    missed = handbook.write("missed.md", "# Missed\n")
    for number in range(2):
        looked = tick(changed_files_sensor, instance, aged(looked, 10))
        assert not looked.run_requests
        handbook.write(f"next {number}.md", "# Next\n")
        missed.with_name(f"next {number - 1}.md").unlink(missing_ok=True)
    with handbook.connection() as connection:
        connection.execute("DELETE FROM freshness")
    assert at_rest(tick(changed_files_sensor, instance, aged(looked, 10))) == SECONDS_AT_REST
    with handbook.connection() as connection:
        assert 19 < read_freshness(connection)[0].lag < 90, "the one that was missed"


def test_many_changes_are_one(handbook: Stages, instance: dg.DagsterInstance) -> None:
    """They are not told apart, and wait since the last run that took everything."""
    for number in range(201):
        handbook.write(f"{number}.md", f"# {number}\n")
    looked = tick(changed_files_sensor, instance)
    assert list(json.loads(looked.cursor or "")["since"]["handbook"]) == ["many"]
    handbook.write("201.md", "# 201\n")
    assert not tick(changed_files_sensor, instance, aged(looked, 10)).run_requests
    assert at_rest(tick(changed_files_sensor, instance, aged(looked, 20))) == SECONDS_AT_REST
    tags = {PARTITION: "handbook", EVERYTHING: "true"}
    run = instance.add_run(dg.DagsterRun("ingest", tags=tags, status=dg.DagsterRunStatus.STARTED))
    for kind in (dg.DagsterEventType.PIPELINE_START, dg.DagsterEventType.PIPELINE_SUCCESS):
        instance.report_dagster_event(dg.DagsterEvent(kind.value, "ingest"), run_id=run.run_id)
    assert not tick(changed_files_sensor, instance, aged(looked, 20)).run_requests


def test_runs_of_a_part_are_not_waited_for(handbook: Stages, instance: dg.DagsterInstance) -> None:
    """Uploads without a pause are one such run after the other."""
    handbook.write("added.md", "# Added\n")
    tags = {PARTITION: "handbook"}
    run = instance.add_run(dg.DagsterRun("ingest", tags=tags, status=dg.DagsterRunStatus.STARTING))
    assert "a run is in progress" in str(tick(changed_files_sensor, instance).skip_reason)
    instance.report_run_canceled(run)
    instance.add_run(dg.DagsterRun("ingest", tags={**tags, PART: "true"}, status=dg.DagsterRunStatus.STARTING))
    first = tick(changed_files_sensor, instance)
    assert at_rest(tick(changed_files_sensor, instance, aged(first, 10))) == SECONDS_AT_REST


def test_a_source_that_waits_is_named(handbook: Stages, instance: dg.DagsterInstance) -> None:
    """A check fails after ten minutes, `status` says it, `status --check` after the time that it is given."""
    handbook.write("added.md", "# Added\n")
    looked = tick(changed_files_sensor, instance)
    with handbook.connection() as connection:
        connection.execute("DELETE FROM freshness")
        connection.execute("DELETE FROM waiting_source")
    late = tick(changed_files_sensor, instance, aged(looked, 660))
    failed = tick(changed_files_sensor, instance, late.cursor)
    (check,) = [event for event in failed.asset_events if isinstance(event, dg.AssetCheckEvaluation)]
    assert not check.passed
    assert f"handbook: changes in {handbook.root} have been waiting since" in str(check.description)
    (source,) = handbook.status().sources
    assert source.behind_since is not None
    with handbook.connection() as connection:
        (finding,) = ledger_findings(connection, Thresholds(lag=timedelta(minutes=10)))
        assert finding.message == f"changes in handbook have been waiting for 11 min: {handbook.root}"
        handbook.run()
        tick(changed_files_sensor, instance, failed.cursor)
        assert describe_overdue(connection, "source_folders") == {}
    assert handbook.status().sources[0].behind_since is None


def test_only_files_are_moving_that_changed_of_late(handbook: Stages) -> None:
    """A time ahead by more is a wrong clock's; a run without that rule takes all."""
    path = append(handbook)
    assert handbook.pending(Selection(at_rest=10)).moving_files == 1
    assert handbook.pending().changed_files == 1
    for seconds in (-11, 3600):
        moment = time.time() + seconds
        os.utime(path, (moment, moment))
        assert handbook.pending(Selection(at_rest=10)).changed_files == 1


def test_a_crawl_gives_way_to_what_else_waits(stages: Stages, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It pauses after its half a minute, and goes on where it was; without anything else it does not pause."""
    monkeypatch.setattr(other_work, "_SECONDS_ALONE", 0.3)
    monkeypatch.setattr(crawled_pages, "_SECONDS_BETWEEN_LOOKS", 0.1)
    stages.web.page("/", html("Start", links=[f"/{number}" for number in range(30)]))
    for number in range(30):
        stages.web.page(f"/{number}", html(f"Page {number}"))
    stages.configure_site(politeness={"requests_per_second": 10})
    asked = stages.knowledge.request_work("handbook", actor="test")

    def crawl() -> int:
        with stages.connection() as connection:
            update_crawled_pages(connection, "handbook", folder=tmp_path / "crawl4ai", gives_way=True)
        stages.documents()
        return len(stages.pages())

    before = crawl()
    assert before <= crawl() < 31
    stages.knowledge.cancel_work(asked.id, actor="test")
    assert crawl() == 31


def test_other_work_is_a_request_or_a_file_that_is_not_its_own(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_work, "_SECONDS_ALONE", 0.0)
    monkeypatch.setattr(other_work, "_SECONDS_BETWEEN_LOOKS", 0.0)
    stages.configure()
    recording = stages.write("talk.mp3", b"no sound").as_uri()
    with stages.connection() as connection:
        others = OtherWork(connection, "handbook", [recording])
        assert not others.waits()
        stages.raw_files()
        assert not others.waits()
        asked = stages.knowledge.request_work("handbook", actor="test").id
        assert others.waits()
        stages.knowledge.cancel_work(asked, actor="test")
        stages.write("near.md", "# Near\n")
        assert others.waits(), "it is new"
        stages.raw_files()
        assert others.waits(), "it is in the inventory, and no document yet"
        stages.documents()
        assert not others.waits()
