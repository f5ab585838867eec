"""A process's end of its pipe: it tells its counters, asks for those of all, and ends when the pipe does."""

import queue
import threading
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any, Final

from sourcebook.server.problems import CountersError
from sourcebook.server.workers.messages import Asked, Count, Counted, Failed, Ready, Sums
from sourcebook.telemetry.measurements import Part, measurements

_SECONDS_BETWEEN_COUNTS: Final = 1.0
"""Seconds between two reports of counters that have grown: what a killed process loses of them."""
_SECONDS_TO_ANSWER: Final = 5.0


class Link:
    """The end of a pipe. Thread-safe.

    Args:
        connection: the pipe.
        end: called in a thread when the other end has closed: whoever watched has ended.
    """

    def __init__(self, connection: "Connection[Any, Any]", end: Callable[[], None]) -> None:
        self._connection, self._end = connection, end
        self._sending, self._asking = threading.Lock(), threading.Lock()
        self._answers: queue.SimpleQueue[Sums] = queue.SimpleQueue()
        self._asked = 0
        self._told: Mapping[Part, float] = {}

    def listen(self) -> None:
        """Begin to listen, in a thread."""
        threading.Thread(target=self._listen, name="sourcebook-worker", daemon=True).start()

    def ready(self) -> None:
        """Say that this process answers requests."""
        self._send(Ready())

    def failed(self, reason: str) -> None:
        """Say why it cannot."""
        self._send(Failed(reason))

    def tell(self) -> None:
        """Tell the counters."""
        self._told = measurements.totals()
        self._send(Counted(self._told))

    def totals(self) -> Mapping[Part, float]:
        """Return the counters of all processes.

        Raises:
            CountersError: they do not come. The counters of this process alone would read like a restart.
        """
        with self._asking:
            self._asked += 1
            self._send(Asked(self._asked, measurements.totals()))
            try:
                while True:
                    answer = self._answers.get(timeout=_SECONDS_TO_ANSWER)
                    if answer.number == self._asked:
                        return answer.totals
            except queue.Empty:
                raise CountersError("the counters of the server's processes did not come: ask again") from None

    def _listen(self) -> None:
        try:
            while True:
                if self._connection.poll(_SECONDS_BETWEEN_COUNTS):
                    match self._connection.recv():
                        case Count():
                            self.tell()
                        case Sums() as answer:
                            self._answers.put(answer)
                elif measurements.totals() != self._told:
                    self.tell()
        except (EOFError, OSError):
            self._end()

    def _send(self, message: object) -> None:
        with self._sending:
            try:
                self._connection.send(message)
            except OSError:  # whoever watched has ended, which the other thread notices
                return
