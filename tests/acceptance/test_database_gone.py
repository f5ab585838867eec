"""Every command says the same one sentence where the database is gone, with and without --json."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import psycopg
import pytest

from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.postmaster import running_postmaster
from tests.acceptance.workplace import Workplace
from tests.waiting import wait_until

_NOWHERE = "postgresql://user:s3cret-pass@127.0.0.1:9/sourcebook"
FILES = 120
"""Files of an ingest that is interrupted: too many for a small change, too few for torch."""
_COMMANDS = (
    ("apply",),
    ("search", "tide"),
    ("evaluate", "--queries", "q.jsonl", "--qrels", "q.tsv", "-c", "handbook"),
    ("status",),
    ("documents",),
    ("show", "1"),
    ("remove", "1"),
    ("purge", "--yes"),
    ("ingest",),
    ("up",),
)


@pytest.fixture(scope="module")
def nowhere(shared_workplace: Workplace) -> Workplace:
    """A workplace whose database does not exist."""
    shared_workplace.configure(handbook="docs")
    shared_workplace.write("q.jsonl", '{"id": "1", "text": "tide"}\n')
    shared_workplace.write("q.tsv", "1\ta\t1\n")
    return replace(shared_workplace, database_url=_NOWHERE)


@pytest.mark.parametrize("command", _COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_an_unreachable_database_is_one_sentence(nowhere: Workplace, command: tuple[str, ...], as_json: bool) -> None:
    """Exit code 1, nothing on stdout but the announcement of `up`, and no secret."""
    if as_json:
        code, out, err = nowhere.run_here(*command, "--json")
    else:
        with nowhere.start(*command) as process:
            out, err = process.communicate(timeout=120)
        code = process.returncode
    assert code == 1
    assert err == (
        'sourcebook: the database cannot be reached: connection to server at "127.0.0.1", port 9 failed: Connection '
        "refused; start its server, or correct SOURCEBOOK_DATABASE_URL\n"
    )
    assert as_json or command == ("up",) or not out
    assert "s3cret" not in out


@pytest.mark.usefixtures("untried_parts")
def test_doctor_names_the_same_remedy(nowhere: Workplace) -> None:
    """Its line has the failure and the remedy."""
    _, told, _ = nowhere.run_here("doctor", "--json")
    assert "the database cannot be reached" in told
    assert "start its server, or correct SOURCEBOOK_DATABASE_URL" in told
    assert "s3cret" not in told


@pytest.fixture
def served(workplace: Workplace) -> Iterator[tuple[Workplace, EmbeddedServer]]:
    """A workplace whose database is a server of its own, named by its URL."""
    server = EmbeddedServer(workplace.folder / "server" / "postgres")
    workplace.configure(handbook="docs")
    for number in range(FILES):
        workplace.write(f"docs/{number}.md", f"# Tide {number}\n\nThe tide of day {number} is high.\n")
    yield replace(workplace, database_url=server.url("postgres")), server
    server.close()


@pytest.mark.usefixtures("model_was_exported")
@pytest.mark.timeout(900)
def test_a_server_that_is_killed_during_an_ingest_is_one_sentence(served: tuple[Workplace, EmbeddedServer]) -> None:
    """Inside a Dagster run: no traceback, neither Dagster's nor SQLAlchemy's; the next ingest goes on."""
    workplace, server = served
    with workplace.start("ingest", "--json") as process:
        _wait_for_work(workplace, process)
        found = running_postmaster(server.folder)
        assert found is not None
        os.kill(found.pid, signal.SIGKILL)
        out, err = process.communicate(timeout=240)
    assert process.returncode == 1, out + err
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("sourcebook: ")
    assert "the connection to the database was lost" in line or "the database cannot be reached" in line
    assert not any(word in line for word in ("psycopg", "sqlalche", "dagster", "Traceback"))
    server.revive()
    counts = workplace.ingest()["handbook"]
    assert counts["documents"]["added"] + counts["documents"]["unchanged"] == FILES


@pytest.mark.usefixtures("model_was_exported")
@pytest.mark.timeout(900)
def test_an_ingest_goes_on_after_a_process_of_the_server_is_killed(served: tuple[Workplace, EmbeddedServer]) -> None:
    """The server ends every session and recovers: the command waits, and takes up what is done."""
    workplace, _ = served
    with workplace.start("ingest", "--json") as process:
        _wait_for_work(workplace, process)
        with psycopg.connect(str(workplace.database_url)) as connection:
            others = "SELECT pid FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid()"
            (pid,) = connection.execute(others).fetchall()[0]
        os.kill(pid, signal.SIGKILL)
        out, err = process.communicate(timeout=240)
    assert process.returncode == 0, out + err
    assert "Traceback" not in err
    counts = workplace.ingest()["handbook"]
    assert counts["documents"]["unchanged"] == FILES


def _wait_for_work(workplace: Workplace, process: "subprocess.Popen[str]") -> None:
    def works() -> bool:
        if process.poll() is not None:
            return True
        with suppress(psycopg.Error), psycopg.connect(str(workplace.database_url)) as connection:
            row = connection.execute("SELECT count(*) FROM sourcebook.document").fetchone()
            return row is not None and row[0] > 0
        return False

    wait_until(works, seconds=240, what="the ingest writes documents")
    assert process.poll() is None, process.communicate()
