"""The embedded server: stale pid files, servers of others, kills at random moments, and folders for nobody else."""

import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer

import psutil
import psycopg
import pytest

from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.postmaster import running_postmaster
from tests.waiting import wait_until

_KILLS = 30
_WHOLE = "{pid}\n{folder}\n1700000000\n5432\n{folder}\n\n  1111 2222\nready   \n"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A data folder whose server has run and does not run now."""
    with tempfile.TemporaryDirectory(prefix="sourcebook-test-") as place:
        data = Path(place).resolve() / "home" / "postgres"
        EmbeddedServer(data).close()
        yield data


@contextmanager
def other_program() -> Iterator[int]:
    """Run a program that is not PostgreSQL; lend its process id."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process.pid
        process.kill()


def dead_pid() -> int:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


def answers(server: EmbeddedServer) -> bool:
    with psycopg.connect(server.url("postgres")) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("lines", range(9))
@pytest.mark.parametrize("kind", ["dead", "another program"])
def test_a_stale_pid_file_is_no_obstacle(folder: Path, lines: int, kind: str) -> None:
    """Zero to all eight lines, with the id of a dead process or of another program."""
    with other_program() as pid:
        text = _WHOLE.format(pid=pid if kind == "another program" else dead_pid(), folder=folder)
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            (folder / name).write_text("".join(text.splitlines(keepends=True)[:lines]))
        server = EmbeddedServer(folder)
        assert answers(server)
        server.close()
    assert running_postmaster(folder) is None


@pytest.mark.parametrize("content", [b"\xff\xfe\x00garbage", b"-17\n", b"99999999999999999999\n", b"\n\n\n", b"12"])
def test_a_damaged_pid_file_is_no_obstacle(folder: Path, content: bytes) -> None:
    """Bytes that are no text, impossible numbers, and half a number."""
    (folder / "postmaster.pid").write_bytes(content)
    server = EmbeddedServer(folder)
    assert answers(server)
    server.close()


def test_a_server_of_somebody_else_is_used_and_left(folder: Path) -> None:
    """`pg_ctl start` by hand: the handle uses that server and does not stop it."""
    server = EmbeddedServer(folder)
    account, programs = server._account, server._programs
    server.close()
    control = [str(programs / "bin" / "pg_ctl"), "-D", str(folder), "-w"]
    with tempfile.TemporaryFile() as output:
        options = f"-h '' -k {folder}"
        assert account.start([*control, "-l", str(folder / "log"), "-o", options, "start"], output).wait(60) == 0
        before = running_postmaster(folder)
        server = EmbeddedServer(folder)
        assert answers(server)
        server.close()
        assert before is not None
        assert running_postmaster(folder) == before
        assert account.start([*control, "-m", "fast", "stop"], output).wait(60) == 0


@pytest.mark.parametrize("locale", ["C", "tr_TR.UTF-8", "of_nowhere"])
def test_a_path_and_a_locale_of_any_kind(public_folder: Path, monkeypatch: pytest.MonkeyPatch, locale: str) -> None:
    """A server starts there with the letters of every language: cron has no LANG, and ssh one of elsewhere."""
    monkeypatch.setenv("LC_ALL", locale)
    home = public_folder / "a \"home\" of $HOME, `id` \\ and 'mine' # 100% ü 漢"
    server = EmbeddedServer(home / "postgres")
    with psycopg.connect(server.url("postgres")) as connection:
        (row,) = connection.execute("SELECT to_tsvector('german', 'Die „HÄFEN“ – Index')::text").fetchall()
    server.close()
    assert row == ("'haf':2 'index':3",)
    assert (home / "postgres" / "log").exists()


def test_a_killed_server_is_started_again_and_closes_quietly(folder: Path) -> None:
    """`kill -9` of the postmaster: `revive` starts another one; `close` finds nothing to stop."""
    server = EmbeddedServer(folder)
    for revived in (True, False):
        found = running_postmaster(folder)
        assert found is not None
        os.kill(found.pid, signal.SIGKILL)
        wait_until(lambda: running_postmaster(folder) is None)
        if revived:
            server.revive()
            assert answers(server)
    server.close()
    assert running_postmaster(folder) is None


def test_processes_that_outlive_a_killed_server_are_waited_for(folder: Path) -> None:
    """They end by themselves, on a busy machine after seconds; no other server starts before."""
    server = EmbeddedServer(folder)
    found = running_postmaster(folder)
    assert found is not None
    postmaster = psutil.Process(found.pid)
    survivor = postmaster.children()[0]
    survivor.suspend()
    postmaster.kill()
    wait_until(lambda: running_postmaster(folder) is None)
    going_on = Timer(3, survivor.resume)
    going_on.start()
    try:
        server.revive()
    finally:
        going_on.join()
    assert answers(server)
    server.close()


def test_the_last_of_two_handles_stops_the_server(folder: Path) -> None:
    """Handles of one process and of others count alike."""
    first, second = EmbeddedServer(folder), EmbeddedServer(folder)
    first.close()
    assert answers(second)
    second.close()
    assert running_postmaster(folder) is None


def test_the_server_writes_to_disk_beside_other_work(folder: Path) -> None:
    """A checkpoint that nobody waits for; a server whose URL is set is left alone."""

    def checkpoints(database: Database) -> int:
        with database.connection() as connection:
            row = connection.execute("SELECT num_requested FROM pg_stat_checkpointer").fetchone()
        assert row is not None
        return int(row[0])

    with Database(DatabaseLocation(folder.parent)) as database:
        with Database(DatabaseLocation(folder.parent, url=database.url)) as elsewhere:
            before = checkpoints(elsewhere)
            elsewhere.write_out_beside()
            assert checkpoints(elsewhere) == before
        database.write_out_beside()
        wait_until(lambda: checkpoints(database) == before + 1)


@contextmanager
def stopped_checkpointer(folder: Path) -> Iterator[psutil.Process]:
    """Stop the process without which the server does not end on request; lend the server."""
    found = running_postmaster(folder)
    assert found is not None
    postmaster = psutil.Process(found.pid)

    def checkpointer() -> psutil.Process | None:
        for each in postmaster.children():
            with suppress(psutil.NoSuchProcess):  # a process of the start that ends
                if "checkpointer" in " ".join(each.cmdline()):
                    return each
        return None

    stopped = wait_until(checkpointer)
    assert stopped is not None
    stopped.suspend()
    yield postmaster


def has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_server_that_does_not_stop_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that hangs where its shutdown meets its recovery; the next start recovers."""
    monkeypatch.setattr("sourcebook.database.embedded._SECONDS_TO_STOP", 0.5)
    server = EmbeddedServer(folder)
    with stopped_checkpointer(folder) as postmaster:
        server.close()
        wait_until(lambda: has_ended(postmaster), what="the server has ended")
    again = EmbeddedServer(folder)
    assert answers(again)
    again.close()


def test_a_server_that_hangs_while_it_stops_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that asked it to stop was killed meanwhile: the next one starts another server."""
    monkeypatch.setattr("sourcebook.database.embedded._SECONDS_TO_STOP", 59.5)
    server = EmbeddedServer(folder)
    with stopped_checkpointer(folder) as postmaster:
        postmaster.send_signal(signal.SIGINT)

        def is_stopping() -> bool:
            found = running_postmaster(folder)
            return found is not None and found.status == "stopping"

        wait_until(is_stopping)
        again = EmbeddedServer(folder)
        wait_until(lambda: has_ended(postmaster), what="the server has ended")
        assert answers(again)
        again.close()
    server.close()


def test_nobody_else_reads_the_state(folder: Path) -> None:
    """Modes of the state folder and of the data."""
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_kills_at_random_moments_leave_a_home_that_works() -> None:
    """Thirty times `kill -9` of the process that makes and starts the server; then a handle finds it whole."""
    moments = random.Random(12)
    program = (
        "import sys; from pathlib import Path; from sourcebook.database.embedded import EmbeddedServer as S\n"
        "print('begins', flush=True)\n"
        "while True: S(Path(sys.argv[1])).close()"
    )
    with tempfile.TemporaryDirectory(prefix="sourcebook-test-") as place:
        folder = Path(place).resolve() / "home" / "postgres"
        for number in range(_KILLS):
            with subprocess.Popen([sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == b"begins\n"
                doomed = psutil.Process(process.pid)
                # To make the data takes a second, and each start after that a third of one.
                with suppress(subprocess.TimeoutExpired):
                    process.wait(moments.uniform(0, 0.6 if folder.exists() else 1.5))
                assert process.poll() is None, f"kill {number}: it ended by itself"
                for one in [doomed, *(doomed.children(recursive=True) if number % 2 else ())]:
                    with suppress(psutil.NoSuchProcess):
                        one.kill()
        server = EmbeddedServer(folder)
        assert answers(server)
        server.close()
        assert running_postmaster(folder) is None
        assert not list(folder.parent.glob("postgres.new-*"))
