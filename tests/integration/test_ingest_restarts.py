"""An ingest whose database ends its sessions: it goes on where the server answers again, else it fails."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import psycopg
import pytest

from orchestration.ingest import IngestedCollection, IngestEvents, ingest
from sourcebook.config.loading import load_configuration
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import DatabaseConnectionLostError, DatabaseUnavailableError
from sourcebook.model.selection import EVERYTHING
from sourcebook.records import Checkpoint
from tests.integration.record_stages import RecordStages

END_SESSIONS = """
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


def end_sessions(database: Database) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(END_SESSIONS)


def end_sessions_for_good(database: Database) -> None:
    end_sessions(database)
    database.url = "postgresql://127.0.0.1:9/sourcebook"  # where nothing answers


@contextmanager
def disturbed(
    records: RecordStages, monkeypatch: pytest.MonkeyPatch, disturb: Callable[[Database], None]
) -> Iterator[Callable[[], list[IngestedCollection]]]:
    """An ingest of a program that lists no record, and disturbs the database of the ingest in its first look."""
    url = records.stages.database.url
    with Database(DatabaseLocation(Path(records.folder / "home"), url)) as database:
        left = [disturb]

        class Disturbing:
            def changes(self, cursor: object) -> Iterator[Checkpoint]:
                if left:
                    left.pop()(database)
                yield Checkpoint()

        module = ModuleType("disturbing_of_tests")
        module.__dict__["Disturbing"] = Disturbing
        monkeypatch.setitem(sys.modules, module.__name__, module)
        records.configure(
            python={"use": "disturbing_of_tests:Disturbing"},
            **dict.fromkeys(("title", "url", "updated", "metadata", "tags")),
        )
        configuration = load_configuration(records.folder / "sourcebook.yaml")
        yield lambda: list(ingest(configuration, database, collections=[], selection=EVERYTHING, events=IngestEvents()))
        assert not left, "the look came as far as the disturbance"


def test_an_ingest_goes_on_where_the_server_answers_again(
    records: RecordStages, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its sessions are ended once: one warning names the collection and the failure, and the collection is done."""
    with disturbed(records, monkeypatch, end_sessions) as ingested, caplog.at_level(logging.WARNING):
        (done,) = ingested()
    assert done.name == records.stages.collection
    (said,) = [each.getMessage() for each in caplog.records if each.name == "sourcebook.ingest"]
    assert said.startswith(f"{records.stages.collection}: the ingest goes on after a failure: the connection to the")


def test_an_ingest_whose_server_stays_away_says_so_once(
    records: RecordStages, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is said to go on: the failure is that the server cannot be reached, after that of the lost session."""
    with (
        disturbed(records, monkeypatch, end_sessions_for_good) as ingested,
        caplog.at_level(logging.WARNING),
        pytest.raises(DatabaseUnavailableError, match="cannot be reached") as failure,
    ):
        ingested()
    assert not [each for each in caplog.records if each.name == "sourcebook.ingest"]
    refused = failure.value.__cause__
    assert refused is not None
    assert isinstance(refused.__context__, DatabaseConnectionLostError)
