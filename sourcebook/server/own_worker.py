"""The work of a server itself: a child process, the pipeline's own, does what was asked for, while the server answers.

It starts when work waits, ends a minute after the last of it, and ends with the server. Requests are claimed one by
one, so that of several servers one does each. Where `sourcebook up` or Dagster runs, its watch and sensors do the work.
"""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sourcebook.errors import SourcebookError
from sourcebook.installation import code_location
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.operations.work import waiting_work

_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from orchestration.request_worker import main; main(*sys.argv[2:])"
)
_SECONDS_BETWEEN_STARTS: Final = 30.0
"""Seconds until the next start of a child that failed."""
_SECONDS_BETWEEN_RECOVERIES: Final = 30.0
_SECONDS_BETWEEN_ATTEMPTS: Final = 2.0
"""Seconds until the next look, where the database is out of reach."""
_SECONDS_TO_END: Final = 5.0
_log = logging.getLogger(__name__)


def can_work() -> bool:
    """Return whether the pipeline is installed, which does the work."""
    return code_location() is not None and find_spec("dagster") is not None


def is_of_this_machine(url: str | None) -> bool:
    """Return whether a database is embedded or on this machine.

    The folders of one on another machine are that machine's, or a colleague's: work on them is not for this one.

    Args:
        url: of the database; None for an embedded one.
    """
    hosts = [] if url is None else str(conninfo_to_dict(url).get("host") or "").split(",")
    return all(not host or host.startswith("/") or host == "localhost" or _is_loopback(host) for host in hosts)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def own_worker(knowledge: Callable[[], KnowledgeBase], configuration: Path) -> Iterator[None]:
    """Do what is asked for, in a child process, until the block ends.

    Args:
        knowledge: returns the knowledge base; called in a thread, again where it fails.
        configuration: path of the configuration, which need not exist.
    """
    worker = _OwnWorker(knowledge, configuration)
    thread = threading.Thread(target=worker.run, name="own-worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        worker.stop.set()
        worker.end_child()
        thread.join(_SECONDS_TO_END)


class _OwnWorker:
    def __init__(self, knowledge: Callable[[], KnowledgeBase], configuration: Path) -> None:
        self._knowledge, self._configuration = knowledge, configuration
        self.stop = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._next_start = 0.0

    def run(self) -> None:
        """Look for work until told to stop."""
        while not self.stop.is_set():
            try:
                self._look(self._knowledge())
            except (SourcebookError, psycopg.Error) as error:
                if not self.stop.is_set():
                    _log.info("work is looked for again in a moment: %s", error)
            self.stop.wait(_SECONDS_BETWEEN_ATTEMPTS)

    def _look(self, knowledge: KnowledgeBase) -> None:
        recovered = 0.0
        with closing(waiting_work(knowledge)) as looks:
            for waits, recover in looks:
                if self.stop.is_set():
                    return
                self._reap()
                if waits and self._child is None and time.monotonic() >= self._next_start:
                    self._start(knowledge.database.location.home)
                elif self._child is None and time.monotonic() - recovered > _SECONDS_BETWEEN_RECOVERIES:
                    recovered = time.monotonic()
                    recover()

    def _start(self, home: Path) -> None:
        environment = {**os.environ, "SOURCEBOOK_HOME": str(home), "SOURCEBOOK_CONFIG": str(self._configuration)}
        with self._lock:
            if self.stop.is_set():
                return
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(code_location()), str(self._configuration), str(home)],
                env=environment,
                stdin=subprocess.PIPE,  # its end tells the child that this process has ended, however it ended
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for this process, which ends the child
            )

    def _reap(self) -> None:
        """Forget a child that has ended; after a failure the next one waits."""
        if self._child is None or (code := self._child.poll()) is None:
            return
        if code != 0:
            _log.warning("the process that does the work ended with %d; the next one starts in half a minute", code)
            self._next_start = time.monotonic() + _SECONDS_BETWEEN_STARTS
        self._child = None

    def end_child(self) -> None:
        """End the child; what it works on waits for the next worker."""
        with self._lock:
            child = self._child
        if child is None or child.stdin is None:
            return
        with suppress(OSError):
            child.stdin.close()
        try:
            child.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
