"""Parsers in child processes: one document's trouble is its own."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from io import BytesIO
from pathlib import Path

import psutil
import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, ParseError, TemporaryParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import CSV, HTML, MARKDOWN, PDF
from sourcebook.parsing.parser_pool import ParserPool
from sourcebook.parsing.worker import ParserTask, parse_task
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf
from tests.waiting import seconds_until_gone, wait_until

SETTINGS = ParsingSettings()
SLOW = b"1,2,3,4,5,6,7,8\n" * 1_500_000
"""A table that takes several seconds, and more than a gigabyte."""


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children()}


def wait_for_child(before: set[int]) -> int:
    def parsing() -> list[int]:
        # The other child that there may be is multiprocessing's own, which parses nothing.
        candidates = [psutil.Process(pid) for pid in children() - before]
        return [each.pid for each in candidates if "loky" in " ".join(each.cmdline()) and each.cpu_times().user > 1]

    return wait_until(parsing, what="a process parses", seconds=60)[0]


def test_documents_come_back_as_parse_returns_them() -> None:
    """What crosses the processes is the same document, whether its bytes go through the pipe or a file."""
    from sourcebook.parsing.parse import parse

    small, large = b"# One\n\nwords\n", b"# Two\n\n" + (b"many words here " * 40 + b"\n\n") * 2_500
    with ParserPool() as parsers:
        started = [
            parsers.start(content, name="a.md", media_type=MARKDOWN, settings=SETTINGS) for content in (small, large)
        ]
        for content, parsing in zip((small, large), started, strict=True):
            assert parsing.result() == parse(content, name="a.md", media_type=MARKDOWN)


def test_no_file_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large content lies in a temporary file, which goes with its document, whether that fails or not."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with ParserPool(documents=1) as parsers:
        good = parsers.start(b"words " * 300_000, name="a.md", media_type=MARKDOWN, settings=SETTINGS)
        bad = parsers.start(b"PK\x03\x04" * 300_000, name="a.docx", media_type="application/zip", settings=SETTINGS)
        assert len(list(tmp_path.glob("sourcebook-*/*"))) == 2
        good.result()
        with pytest.raises(ParseError):
            bad.result()
        assert not list(tmp_path.glob("sourcebook-*/*"))
        parsers.start(b"words " * 300_000, name="a.md", media_type=MARKDOWN, settings=SETTINGS)  # nobody waits for it
    assert not list(tmp_path.iterdir())


def test_content_lies_once_however_many_wait_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large message with many attachments is not copied for each, and lies there until the last has been read."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with ParserPool(documents=1) as parsers:
        started = [
            parsers.start(b"words " * 300_000, name="a.md", media_type=MARKDOWN, settings=SETTINGS) for _ in range(3)
        ]
        assert len(list(tmp_path.glob("sourcebook-*/*"))) == 1
        assert len({parsing.result().markdown for parsing in started}) == 1
        assert not list(tmp_path.glob("sourcebook-*/*"))


def test_a_temporary_folder_without_room_fails_what_needs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names the folder and what to do; what is small is parsed."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with ParserPool(documents=1) as parsers:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
            with pytest.raises(ParseError, match=rf"temporary folder {tmp_path} \(File too large\); make room"):
                parsers.start(b"words " * 300_000, name="a.md", media_type=MARKDOWN, settings=SETTINGS)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert not list(tmp_path.glob("sourcebook-*/*"))
        small = parsers.start(b"# Small\n", name="a.md", media_type=MARKDOWN, settings=SETTINGS)
        assert small.result().title == "Small"


def test_no_temporary_folder_at_all_fails_what_needs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where no folder can be made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with ParserPool(documents=1) as parsers:
        with pytest.raises(ParseError, match="set TMPDIR"):
            parsers.start(b"words " * 300_000, name="a.md", media_type=MARKDOWN, settings=SETTINGS)
        small = parsers.start(b"# Small\n", name="a.md", media_type=MARKDOWN, settings=SETTINGS)
        assert small.result().title == "Small"


def test_a_document_that_takes_too_long_fails_alone() -> None:
    """Its sentence names the limit and the setting, and the document behind it is parsed."""
    with ParserPool(documents=1) as parsers:
        slow = parsers.start(
            SLOW * 4, name="slow.csv", media_type=CSV, settings=ParsingSettings(timeout=timedelta(seconds=2))
        )
        quick = parsers.start(b"# Quick\n", name="quick.md", media_type=MARKDOWN, settings=SETTINGS)
        with pytest.raises(ParseError, match=r"not done after 2 seconds; raise parsing\.timeout"):
            slow.result()
        assert quick.result().title == "Quick"


def test_a_document_that_takes_too_much_memory_fails_alone() -> None:
    """Its sentence names the setting, and the document behind it is parsed."""
    with ParserPool(documents=1) as parsers:
        settings = ParsingSettings(memory=500_000_000)
        large = parsers.start(SLOW * 2, name="large.csv", media_type=CSV, settings=settings)
        small = parsers.start(b"# Small\n", name="small.md", media_type=MARKDOWN, settings=SETTINGS)
        with pytest.raises(ParseError, match=r"parsing\.memory"):
            large.result()
        assert small.result().title == "Small"


def test_a_parser_that_is_killed_once_is_started_again() -> None:
    """Something outside ended the process: the document is parsed again at once and does not fail."""
    before = children()
    with ParserPool(documents=1) as parsers:
        parsing = parsers.start(SLOW[: len(SLOW) // 2], name="tides.csv", media_type=CSV, settings=ParsingSettings())
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


def test_a_file_larger_than_the_memory_fails_alone() -> None:
    """Also where its pages have to be counted first."""
    with ParserPool(documents=1) as parsers:
        settings = ParsingSettings(memory=500_000_000)
        content = b"%PDF-1.7\n" + bytes(600_000_000)
        large = parsers.start(content, name="a.pdf", media_type=PDF, settings=settings)
        with pytest.raises(ParseError, match=r"parsing\.memory"):
            large.result()


def test_what_a_document_leaves_in_memory_is_no_other_ones_trouble() -> None:
    """A scan loads so much that it does not fit; what comes after it is parsed within the same limit."""
    settings = ParsingSettings(memory=500_000_000)
    with ParserPool(documents=1) as parsers:
        scan = parsers.start(_scan(), name="scan.png", media_type="image/png", settings=settings)
        table = parsers.start(b"1,2,3,4\n" * 100_000, name="a.csv", media_type=CSV, settings=settings)
        with pytest.raises(ParseError, match=r"needs more than 500 MB of memory; raise parsing\.memory"):
            scan.result()
        assert table.result().blocks


def test_a_document_is_tried_again_where_others_left_too_little_memory() -> None:
    """What a process keeps of those before does not count against it."""
    with ParserPool(documents=1) as parsers:
        scan = parsers.start(_scan(), name="scan.png", media_type="image/png", settings=SETTINGS)
        table = parsers.start(
            b"1,2,3,4\n" * 400_000, name="a.csv", media_type=CSV, settings=ParsingSettings(memory=500_000_000)
        )
        scan.result()
        assert table.result().blocks


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


def _scan() -> bytes:
    from PIL import Image

    file = BytesIO()
    Image.new("RGB", (1_000, 1_400), "white").save(file, "PNG")
    return file.getvalue()


def test_ctrl_c_is_told_by_one_process(tmp_path: Path) -> None:
    """Processes that are only starting say nothing of it either."""
    program = tmp_path / "program.py"
    program.write_text(
        "import signal, threading, time\n"
        "import psutil\n"
        "from sourcebook.config.parsing import ParsingSettings\n"
        "from sourcebook.parsing.parser_pool import ParserPool\n"
        "def interrupt():\n"
        "    for _ in range(20):\n"
        "        time.sleep(0.05)\n"
        "        for child in psutil.Process().children():\n"
        "            child.send_signal(signal.SIGINT)\n"
        "if __name__ == '__main__':\n"
        "    settings = ParsingSettings()\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # the background ignores it
        "    with ParserPool() as parsers:\n"
        "        threading.Thread(target=interrupt).start()\n"
        "        parsing = parsers.start(b'# Words', name='a.md', media_type='text/markdown', settings=settings)\n"
        "        print(parsing.result().title)\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120, check=True)
    assert (done.stdout, done.stderr) == ("Words\n", "")


def test_what_a_parser_prints_reaches_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    """The terminal is the user's; an odd file makes a parser complain at length."""
    content = b'<html><body><p><a href="javascript:x">odd words</a></p></body></html>'
    with ParserPool(documents=1) as parsers:
        parsing = parsers.start(content, name="a.html", media_type=HTML, settings=SETTINGS)
        assert "odd words" in parsing.result().markdown
    assert capfd.readouterr() == ("", "")


def test_processes_give_way_to_new_ones() -> None:
    """After so many documents a process ends, whatever its libraries kept goes with it, and no document is lost."""
    with ParserPool(documents=1, documents_a_process=3) as parsers:
        seen: set[int] = set()
        for number in range(9):
            parsing = parsers.start(
                f"# Number {number}\n".encode(), name="a.md", media_type=MARKDOWN, settings=SETTINGS
            )
            assert parsing.result().title == f"Number {number}"
            seen |= children()
    assert len(seen) >= 3


def test_processes_end_with_the_pool() -> None:
    """Also in mid-document, so that a run that fails leaves nothing behind that computes."""
    before = children()
    with ParserPool(documents=1) as parsers:
        parsers.start(SLOW * 4, name="slow.csv", media_type=CSV, settings=SETTINGS)
        pid = wait_for_child(before)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_processes_leave_when_their_parent_is_killed(tmp_path: Path) -> None:
    """A parent that cannot say good-bye leaves no process computing for nobody, and no file."""
    program = tmp_path / "parent.py"
    program.write_text(
        "from sourcebook.config.parsing import ParsingSettings\n"
        "from sourcebook.parsing.parser_pool import ParserPool\n"
        "if __name__ == '__main__':\n"
        "    parsers, settings = ParserPool(documents=1), ParsingSettings()\n"
        "    content = b'1,2,3,4,5,6,7,8\\n' * 9_000_000\n"
        "    parsers.start(content, name='slow.csv', media_type='text/csv', settings=settings).result()\n"
    )
    folder = tmp_path / "temporary"
    folder.mkdir()
    parent = subprocess.Popen([sys.executable, program], env={**os.environ, "TMPDIR": str(folder)})
    try:
        workers = wait_until(
            lambda: [
                child
                for child in psutil.Process(parent.pid).children()
                if child.cpu_times().user > 1 and "loky" in " ".join(child.cmdline())
            ],
            what="a process parses",
            seconds=60,
        )
    finally:
        parent.kill()
        parent.wait()
    for worker in workers:
        seconds_until_gone(worker.pid, 30)
    wait_until(lambda: not list(folder.iterdir()), what="the document's file is removed")


def test_a_main_module_is_not_imported(tmp_path: Path) -> None:
    """A parser's process imports what it needs: not the program that started it, which may be large."""
    program = tmp_path / "program.py"
    program.write_text(
        "print('imported')\n"
        "from sourcebook.config.parsing import ParsingSettings\n"
        "from sourcebook.parsing.parser_pool import ParserPool\n"
        "if __name__ == '__main__':\n"
        "    settings = ParsingSettings()\n"
        "    with ParserPool(documents=1) as parsers:\n"
        "        parsing = parsers.start(b'# Words', name='a.md', media_type='text/markdown', settings=settings)\n"
        "        print(parsing.result().title)\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["imported", "Words"]
