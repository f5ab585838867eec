"""Life of the processes of a pool: they start quietly, are replaced, and end with the pool and with its parent."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from sourcebook.model.media_types import CSV, HTML, MARKDOWN
from sourcebook.parsing.parser_pool import ParserPool
from tests.unit.parsing.parsers_at_work import SETTINGS, SLOW, children, wait_for_child
from tests.waiting import seconds_until_gone, wait_until


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
