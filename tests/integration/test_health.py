"""`sourcebook status --check`: findings where a threshold is exceeded, and exit codes."""

import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from orchestration.ingest import IngestEvents, ingest
from sourcebook.admin.dagster_state import DagsterState, read_dagster_state
from sourcebook.admin.freshness import read_freshness, record_comparison
from sourcebook.admin.health import Thresholds, daemon_findings, ledger_findings
from sourcebook.command.app import app
from sourcebook.config.loading import load_configuration
from sourcebook.database.database import Database
from sourcebook.files.listing import file_uri
from sourcebook.model.selection import Selection
from tests.integration.stages import Stages

HEALTHY = DagsterState(
    {"SENSOR": 12.0, "SCHEDULER": 40.0, "QUEUED_RUN_COORDINATOR": 3.0},
    {"changed_files": 9.0, "due_pages": 31.0},
    (),
    {},
)


def test_a_running_daemon_gives_no_finding() -> None:
    assert list(daemon_findings(HEALTHY, Thresholds())) == []


def test_silence_of_a_daemon_and_of_its_sensors_is_found() -> None:
    silent = DagsterState(
        {"SENSOR": 900.0, "SCHEDULER": 40.0}, {"changed_files": 7_300.0, "due_pages": 3_600.0}, ("due_pages",), {}
    )
    assert [(finding.check, finding.message) for finding in daemon_findings(silent, Thresholds())] == [
        ("heartbeat", "the daemon SENSOR gave no heartbeat for 15 min"),
        ("heartbeat", "the daemon QUEUED_RUN_COORDINATOR never gave a heartbeat"),
        ("tick", "no sensor has ticked for 60 min"),
        ("sensor", "the last tick of the sensor due_pages failed: see the page Automation"),
    ]
    patient = Thresholds(silence=timedelta(hours=2))
    assert [finding.check for finding in daemon_findings(silent, patient)] == ["heartbeat", "sensor"]


def test_a_database_without_dagster_is_told(database: Database) -> None:
    with database.connection() as connection:
        assert read_dagster_state(connection) is None
    (finding,) = daemon_findings(None, Thresholds())
    assert finding.message == "no daemon has run on this database: start it with  sourcebook up"


def test_lag_is_the_age_of_the_first_comparison_that_found_a_change(stages: Stages) -> None:
    stages.configure()
    with stages.database.connection() as connection:
        record_comparison(connection, "handbook", behind=True)
        connection.execute("UPDATE freshness SET behind_since = now() - interval '40 min'")
        record_comparison(connection, "handbook", behind=True)
        (finding,) = ledger_findings(connection, Thresholds())
        assert (finding.check, finding.collection) == ("lag", "handbook")
        assert finding.message == "changes in handbook have been waiting for 40 min"
        assert list(ledger_findings(connection, Thresholds(lag=timedelta(hours=1)))) == []
        record_comparison(connection, "handbook", behind=False)
        (freshness,) = read_freshness(connection)
        assert freshness.lag == 0
        assert list(ledger_findings(connection, Thresholds())) == []


def test_the_ingest_of_a_part_says_nothing_about_the_lag_of_the_rest(stages: Stages) -> None:
    stages.configure()
    stages.write("a.md", "# Tides\n")
    stages.run()
    with stages.database.connection() as connection:
        record_comparison(connection, "handbook", behind=True)
        list(
            ingest(
                load_configuration(stages.root.parent / "sourcebook.yaml"),
                stages.database,
                collections=["handbook"],
                selection=Selection(documents=(file_uri(str(stages.root / "a.md")),)),
                events=IngestEvents(),
            )
        )
        (freshness,) = read_freshness(connection)
    assert freshness.lag > 0


def test_failed_items_are_a_warning_above_the_number_that_is_allowed(stages: Stages) -> None:
    stages.configure()
    stages.write("broken.docx", b"PK\x03\x04 nothing else")
    stages.run()
    with stages.database.connection() as connection:
        (finding,) = ledger_findings(connection, Thresholds())
        assert finding.severity == "warning"
        assert finding.message == "1 item has failed in handbook (1 corrupt): sourcebook documents --failed"
        assert list(ledger_findings(connection, Thresholds(failed=1))) == []


@pytest.fixture
def storage(database: Database) -> Database:
    """Dagster's tables with a daemon that has just given its heartbeats and ticks."""
    with database.connection() as connection:
        connection.execute("CREATE TABLE public.daemon_heartbeats (daemon_type text, timestamp timestamp)")
        connection.execute("CREATE TABLE public.runs (status text)")
        connection.execute(
            "CREATE TABLE public.instigators"
            " (selector_id text, instigator_type text, status text, instigator_body text)"
        )
        connection.execute("CREATE TABLE public.job_ticks (selector_id text, status text, timestamp timestamp)")
        connection.execute(
            "INSERT INTO public.daemon_heartbeats SELECT unnest(%s::text[]), now() AT TIME ZONE 'UTC'",
            (list(HEALTHY.heartbeats),),
        )
        connection.execute(
            "INSERT INTO public.instigators VALUES ('x', 'SENSOR', 'DECLARED_IN_CODE', %s)",
            (json.dumps({"origin": {"job_name": "changed_files"}}),),
        )
        connection.execute("INSERT INTO public.job_ticks VALUES ('x', 'SKIPPED', now() AT TIME ZONE 'UTC')")
    return database


def test_exit_codes_and_lines(storage: Database, stages: Stages) -> None:
    """0 where all is well, 3 for failed items alone, 1 for anything worse; one line for each finding."""
    stages.configure()
    arguments = ["--config", str(stages.root.parent / "sourcebook.yaml"), "status", "--check"]
    fine = CliRunner().invoke(app, arguments)
    assert (fine.exit_code, fine.output) == (0, "OK: the daemon runs, nothing waits, nothing has failed\n")
    stages.write("broken.docx", b"PK\x03\x04 nothing else")
    stages.run()
    warned = CliRunner().invoke(app, arguments)
    assert warned.exit_code == 3
    assert warned.output.startswith("WARNING: 1 item has failed in handbook")
    with storage.connection() as connection:
        connection.execute("UPDATE public.daemon_heartbeats SET timestamp = timestamp - interval '1 hour'")
    told = CliRunner().invoke(app, [*arguments, "--json"])
    assert told.exit_code == 1
    answer = json.loads(told.output)
    assert answer["state"] == "critical"
    assert {finding["check"] for finding in answer["findings"]} == {"heartbeat", "failures"}
    assert CliRunner().invoke(app, [*arguments, "--max-silence", "soon"]).exit_code == 2


def test_the_setting_of_dagsters_database_is_named(
    storage: Database, stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is the one that is wrong; it may be another server than the knowledge base's."""
    stages.configure()
    for url in ("postgresql://nobody@127.0.0.1:1/dagster", "postgresql://u:a@b@c/x"):
        monkeypatch.setenv("SOURCEBOOK_DAGSTER_DATABASE_URL", url)
        told = CliRunner().invoke(app, ["--config", str(stages.root.parent / "sourcebook.yaml"), "status", "--check"])
        assert told.exit_code == 1
        assert told.output.startswith("CRITICAL: Dagster's database")
        assert "correct SOURCEBOOK_DAGSTER_DATABASE_URL" in told.output


def test_a_daemon_that_died_while_the_clock_was_ahead_is_noticed(storage: Database) -> None:
    """Its heartbeat is in the future until the clock has caught up; a daemon that lives overwrites it."""
    with storage.connection() as connection:
        for table in ("daemon_heartbeats", "job_ticks"):
            connection.execute(f"UPDATE public.{table} SET timestamp = timestamp + interval '1 hour'".encode())
        state = read_dagster_state(connection)
    assert state is not None
    assert {finding.check for finding in daemon_findings(state, Thresholds())} == {"heartbeat", "tick"}
