"""Dagster's storage over kept connections: statements open none, and lost ones are replaced."""

from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import psycopg
import pytest
import sqlalchemy

from orchestration.instance import SETTINGS, STORAGE_VARIABLE
from tests.conftest import CreateDatabase

_END_OTHERS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()"""
Opened = Callable[[], int]


@pytest.fixture
def url(create_database: CreateDatabase, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database, which `dagster.yaml` names."""
    url = create_database("template0")
    monkeypatch.setenv(STORAGE_VARIABLE, url)
    return url


@pytest.fixture
def opened() -> Iterator[Opened]:
    """A function that counts the connections which this process has opened."""
    connections: list[object] = []

    def note(connection: object, _: object) -> None:
        connections.append(connection)

    sqlalchemy.event.listen(sqlalchemy.Pool, "connect", note)
    yield lambda: len(connections)
    sqlalchemy.event.remove(sqlalchemy.Pool, "connect", note)


@pytest.fixture
def instance(url: str, tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """The instance of `sourcebook up`."""
    (tmp_path / "dagster.yaml").write_text(SETTINGS.read_text())
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        yield instance


def test_statements_and_further_instances_open_no_connections(
    instance: dg.DagsterInstance, opened: Opened, tmp_path: Path
) -> None:
    """A sensor's look opens an instance of its own, which shares the connections of its process."""
    assert instance.get_runs_count() == 0
    before = opened()
    for number in range(5):
        with dg.DagsterInstance.from_config(str(tmp_path)) as another:
            another.add_dynamic_partitions("numbers", [str(number)])
            assert another.get_dynamic_partitions("numbers") == [str(each) for each in range(number + 1)]
            assert another.get_runs_count() == 0
    assert opened() <= before + 1, "one more where a statement is nested in another"


def test_a_connection_that_was_lost_is_replaced_without_an_error(
    instance: dg.DagsterInstance, url: str, opened: Opened
) -> None:
    """As after a restart of the server."""
    instance.add_dynamic_partitions("numbers", ["1"])
    before = opened()
    with psycopg.connect(url, autocommit=True) as connection:
        assert len(connection.execute(_END_OTHERS).fetchall()) > 0
    assert instance.get_dynamic_partitions("numbers") == ["1"]
    assert opened() == before + 1
