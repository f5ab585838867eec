"""Parsers whose process crashes or is killed: the document is tried again, then fails alone."""

import os
import re
import resource
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psutil
import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, ParseError, TemporaryParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import CSV, MARKDOWN, PDF
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.parsing.worker import ParserTask, parse_task
from tests.unit.parsing.parsers_at_work import SETTINGS, SLOW, children, wait_for_child
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf
from tests.waiting import seconds_until_gone, wait_until


def test_a_parser_that_is_killed_once_is_started_again() -> None:
    """Something outside ended the process: the document is parsed again at once and does not fail."""
    before = children()
    with ParserPool(documents=1) as parsers:
        parsing = parsers.start(SLOW[: len(SLOW) // 4], name="tides.csv", media_type=CSV, settings=ParsingSettings())
        os.kill(wait_for_child(before), signal.SIGKILL)
        assert parsing.result().blocks


def test_a_crash_of_the_parser_fails_its_document_alone() -> None:
    """A parser that is killed in mid-document twice leaves one failed document, and the rest is parsed."""
    before = children()
    with ParserPool(documents=1) as parsers, ThreadPoolExecutor(1) as thread:
        doomed = parsers.start(SLOW * 4, name="doomed.csv", media_type=CSV, settings=SETTINGS)
        others = [
            parsers.start(f"# Number {n}\n".encode(), name="a.md", media_type=MARKDOWN, settings=SETTINGS)
            for n in range(3)
        ]
        result = thread.submit(doomed.result)
        first = wait_for_child(before)
        os.kill(first, signal.SIGKILL)
        os.kill(wait_for_child(before | {first}), signal.SIGKILL)
        with pytest.raises(TemporaryParseError, match=r"its parser crashed \(SIGKILL\) twice"):
            result.result()
        assert [other.result().title for other in others] == ["Number 0", "Number 1", "Number 2"]


def processes(before: set[int]) -> list[psutil.Process]:
    """Return the pool's processes: the other children are trackers, of loky and of multiprocessing."""
    return [psutil.Process(pid) for pid in children() - before if "pebble" in " ".join(psutil.Process(pid).cmdline())]


def test_a_process_that_dies_before_its_first_document_takes_none_along() -> None:
    """Documents that wait are parsed by another, also those that no process had been offered yet."""
    before = children()
    content = (
        b"# Large\n\n" + b"words and words\n\n" * 1_500
    )  # the pipe holds two of these, the pool forgets the others
    with ParserPool(documents=1) as parsers:
        started = [parsers.start(content, name="a.md", media_type=MARKDOWN, settings=SETTINGS) for _ in range(8)]
        for process in wait_until(lambda: processes(before), what="processes of the pool"):
            process.kill()
        assert [parsing.result().title for parsing in started] == ["Large"] * 8


def test_a_process_that_dies_with_nothing_to_do_is_replaced() -> None:
    """The next document is parsed, whether its pages have to be counted before or not."""
    before = children()
    with ParserPool(documents=1) as parsers:
        for media_type in (MARKDOWN, PDF):
            first = parsers.start(b"# First\n", name="a.md", media_type=MARKDOWN, settings=SETTINGS)
            assert first.result().title == "First"
            for process in processes(before):
                process.kill()
                seconds_until_gone(process.pid)
            content = pdf([[Shown(72, 700, "Second")]]) if media_type == PDF else b"Second\n"
            second = parsers.start(content, name="a", media_type=media_type, settings=SETTINGS)
            assert "Second" in second.result().markdown


def test_a_parser_that_crashes_after_others_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others left in its process may be the reason: the document is parsed again in a new one."""
    monkeypatch.setattr("sourcebook.parsing.parser_pool.parse_task", partial(crash, tmp_path, 1, 127))
    with ParserPool(documents=1) as parsers:
        for name in ("before.md", "crash.md"):
            parsing = parsers.start(b"# Words\n", name=name, media_type=MARKDOWN, settings=SETTINGS)
            assert parsing.result().title == "Words"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("status", "failure_class", "reason"),
    [
        (127, FailureClass.MEMORY, "its parser needs more than 2,000 MB of memory; raise parsing.memory"),
        (-signal.SIGSEGV, FailureClass.CRASH, "its parser crashed (SIGSEGV): it is damaged"),
    ],
)
def test_a_parser_that_crashes_in_a_new_process_fails_its_document(
    status: int, failure_class: FailureClass, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dynamic loader ends a process that has no room for a library: that is a lack of memory, and no damage."""
    monkeypatch.setattr("sourcebook.parsing.parser_pool.parse_task", partial(crash, tmp_path, 9, status))
    with ParserPool(documents=1) as parsers:
        for crashes in (1, 2):
            parsing = parsers.start(b"# Words\n", name="crash.md", media_type=MARKDOWN, settings=SETTINGS)
            with pytest.raises(ParseError, match=re.escape(reason)) as failed:
                parsing.result()
            assert failed.value.failure_class is failure_class
            assert len(list(tmp_path.iterdir())) == crashes


def crash(folder: Path, crashes: int, status: int, task: ParserTask, memory: int) -> ParsedDocument:
    """Crash in so many processes; then parse. Status 127 is that of a program without room for its libraries."""
    if task.name != "crash.md" or len(list(folder.iterdir())) == crashes:
        return parse_task(task, memory)
    (folder / str(os.getpid())).touch()
    if status == 127:
        program = str(shutil.which("true"))
        resource.setrlimit(resource.RLIMIT_AS, (1_000_000, 1_000_000))
        os.execv(program, [program])  # noqa: S606 - takes the place of this process
    os.kill(os.getpid(), -status)
    raise AssertionError
