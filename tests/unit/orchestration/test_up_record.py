"""One `up` a state folder; a killed one's processes are told from others."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestration.up_record import MARK, AlreadyUpError, UpRecord
from tests.waiting import is_running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dagster" / "up.json"


@pytest.fixture
def told() -> list[str]:
    """The sentences about what is ended."""
    return []


def sleeper(**environment: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["sleep", "600"], env={**os.environ, **environment}, start_new_session=True)


@pytest.fixture
def sleepers() -> Iterator[list["subprocess.Popen[bytes]"]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def test_a_second_one_is_refused_with_the_first_one_s_process_and_start(path: Path, told: list[str]) -> None:
    with UpRecord(path) as first, UpRecord(path) as second:
        first.claim(port=3000, tell=told.append)
        sentence = (
            rf"is running \(process {os.getpid()} since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d, port 3000\): stop it first"
        )
        with pytest.raises(AlreadyUpError, match=sentence):
            second.claim(port=3001, tell=told.append)
    with UpRecord(path) as third:
        third.claim(port=3000, tell=told.append)
    assert told == []


def test_what_an_earlier_one_left_is_ended(
    path: Path, told: list[str], sleepers: list["subprocess.Popen[bytes]"]
) -> None:
    """The mark tells its processes from others whose ids are those in the record."""
    with UpRecord(path) as earlier:
        earlier.claim(port=3000, tell=told.append)
        own, foreign, other = sleeper(**{MARK: earlier.mark}), sleeper(), sleeper(**{MARK: "of another"})
        sleepers.extend((own, foreign, other))
        earlier.record({"daemon": own.pid, "web server": foreign.pid, "code server": other.pid, "gone": 2**22 + 1})
    with UpRecord(path) as later:
        later.claim(port=3000, tell=told.append)
    assert [is_running(process.pid) for process in (own, foreign, other)] == [False, True, True]
    assert told == [f"ending the daemon that an earlier `sourcebook up` (process {os.getpid()}) left running"]


@pytest.mark.parametrize(
    "content", ["", "{", '{"pid": 1', "[]", '{"services": 7}\n', '{"pid": 1}\nrest of an older one']
)
def test_a_record_that_was_half_written_is_no_obstacle(path: Path, told: list[str], content: str) -> None:
    path.parent.mkdir()
    path.write_text(content)
    with UpRecord(path) as record:
        record.claim(port=3000, tell=told.append)
        record.record({})
    assert path.read_text().endswith('"services": {}}\n')
    assert told == []
