"""Services that end are started again, and none outlives its supervisor."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestration.supervisor import MOST_QUICK_ENDS, Service, ServiceError, Supervisor, free_port, listens
from sourcebook.processes import keeper
from tests.checkout import CHECKOUT
from tests.waiting import seconds_until_gone, wait_until

WRITES_ITS_PID = "sleep 600 & echo $$ >> {file}; wait"


def pids(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().split()] if file.exists() else []


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """File of the process ids, one for each start."""
    return tmp_path / "pids"


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    monkeypatch.setattr("orchestration.supervisor._FIRST_DELAY", 0.05)
    with Supervisor(tmp_path, tmp_path, os.environ, lambda: False) as started:
        yield started


def service(name: str, script: str) -> Service:
    return Service(name, ["sh", "-c", script])


def test_a_service_that_is_killed_is_started_again(
    supervisor: Supervisor, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its children are ended first; the message names what ended it, and the log keeps what it said."""
    supervisor.start(service("web server", "echo hello; " + WRITES_ITS_PID.format(file=file)))
    (first,) = wait_until(lambda: pids(file))
    os.kill(first, signal.SIGKILL)

    def started_again() -> bool:
        supervisor.check()
        return len(pids(file)) == 2

    wait_until(started_again)
    assert "the web server was ended by SIGKILL; it starts again in" in caplog.text
    assert (supervisor.folder / "web_server.log").read_text() == "hello\nhello\n"


def test_a_log_that_has_become_large_is_rotated(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service goes on writing; one old file is kept, whose lines come before those of the new one."""
    monkeypatch.setattr("orchestration.supervisor.MOST_LOG_BYTES", 1_000)
    count = "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo $i; [ $((i % 50)) = 0 ] && sleep 0.02; done"
    supervisor.start(service("daemon", f"{count}; exec sleep 600"))  # a shell that forks now would leave a child
    log, old = (supervisor.folder / name for name in ("daemon.log", "daemon.log.1"))

    def is_done() -> bool:
        supervisor.check()
        return "1000\n" in log.read_text()

    wait_until(is_done)
    lines = [int(line) for line in (old.read_text() + log.read_text()).split()]
    assert lines == sorted(set(lines))
    assert lines[-1] == 1_000
    assert log.stat().st_size <= 1_000
    assert {file.name for file in supervisor.folder.glob("daemon.log*")} == {log.name, old.name}


def test_a_service_is_restarted_on_request(supervisor: Supervisor, file: Path) -> None:
    """The others go on; a name that is none changes nothing."""
    supervisor.start(service("daemon", WRITES_ITS_PID.format(file=file)))
    other = file.with_name("other")
    supervisor.start(service("web server", WRITES_ITS_PID.format(file=other)))
    (first,) = wait_until(lambda: pids(file))
    wait_until(lambda: pids(other))
    supervisor.restart("none")
    supervisor.restart("daemon")

    def started_again() -> bool:
        supervisor.check()
        return len(pids(file)) == 2

    wait_until(started_again)
    seconds_until_gone(first)
    assert len(pids(other)) == 1


def test_its_keeper_may_be_killed_too(supervisor: Supervisor, file: Path) -> None:
    """The service has one family at any time."""
    sessions: list[int] = []
    supervisor.changed = lambda found: sessions.extend(found.values())
    supervisor.start(service("daemon", WRITES_ITS_PID.format(file=file)))
    wait_until(lambda: pids(file))
    family = keeper.session_members(sessions[0])
    assert len(family) == 3
    os.kill(sessions[0], signal.SIGKILL)

    def started_again() -> bool:
        supervisor.check()
        return len(pids(file)) == 2

    wait_until(started_again)
    for pid in family:
        seconds_until_gone(pid, 1)


def test_a_service_that_ends_again_and_again_is_given_up(supervisor: Supervisor, file: Path) -> None:
    """One sentence names the service, how it ended and its last words."""
    supervisor.start(service("daemon", f"echo $$ >> {file}; printf '\\033[32mno such table\\033[0m\\n'; exit 7"))

    def give_up() -> None:
        while True:
            supervisor.check()
            time.sleep(0.02)  # between two looks

    with pytest.raises(
        ServiceError, match=r"^the daemon ended with exit code 7, 5 times in a row .*: no such table \("
    ):
        give_up()
    assert len(pids(file)) == MOST_QUICK_ENDS


def test_a_service_that_does_not_start_is_an_error(supervisor: Supervisor) -> None:
    port = free_port("127.0.0.1")
    never = Service("code server", ["sh", "-c", "echo no module; exit 1"], lambda: listens("127.0.0.1", port))
    with pytest.raises(ServiceError, match=r"^the code server ended with exit code 1: no module \(see its log"):
        supervisor.start(never)


def test_a_service_that_is_killed_during_the_start_is_started_again(supervisor: Supervisor, file: Path) -> None:
    """Whether it is the one that starts or an earlier one; only an exit by itself is an error at once."""
    other = file.with_name("other")
    supervisor.start(service("code server", WRITES_ITS_PID.format(file=file)))
    (first,) = wait_until(lambda: pids(file))
    os.kill(first, signal.SIGKILL)
    script = f"echo $$ >> {other}; [ $(wc -l < {other}) = 1 ] && kill -9 $$; sleep 600"
    supervisor.start(Service("web server", ["sh", "-c", script], lambda: len(pids(file)) == len(pids(other)) == 2))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_no_service_outlives_its_supervisor(tmp_path: Path, file: Path, number: signal.Signals) -> None:
    """The supervisor's process is ended without a chance to say so."""
    code = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # which `nohup` ignores
        "from pathlib import Path\n"
        "from orchestration.supervisor import Service, Supervisor\n"
        "folder = Path(sys.argv[1])\n"
        "with Supervisor(folder, folder, os.environ, lambda: False) as supervisor:\n"
        "    for name in 'ab':\n"
        "        supervisor.start(Service(name, ['sh', '-c', sys.argv[2]]))\n"
        "    print('started', flush=True)\n"
        "    time.sleep(600)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path), WRITES_ITS_PID.format(file=file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "started\n"
        found = wait_until(lambda: pids(file) if len(pids(file)) == 2 else [])
        families = [pid for program in found for pid in keeper.session_members(os.getsid(program))]
        assert len(families) == 6
        owner.send_signal(number)
    for pid in families:
        seconds_until_gone(pid, 15)
