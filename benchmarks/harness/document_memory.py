"""Memory of the parser's processes over hundreds of documents."""

import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle, islice
from threading import Event, Thread

import psutil

from benchmarks.harness.document_reading import Reading
from benchmarks.harness.report import Row, say
from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import ParseError
from sourcebook.parsing.parser_pool import DOCUMENTS_A_PROCESS, ParserPool

_DOCUMENTS, _PART = 500, 100
_AHEAD = 8
"""Most documents in the queue, so that the count of finished documents is close to the count of parsed ones."""
_MORE = 1.1
"""Largest ratio of the memory over the last hundred documents to the memory before the first replaced process."""
_SECONDS_BETWEEN_LOOKS = 0.05


class _Watch(Thread):
    """Samples the resident memory of the largest child process while documents are counted."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.done = 0
        self.highest = [0] * _DOCUMENTS
        """Bytes, by the number of finished documents."""
        self._end = Event()

    def run(self) -> None:
        while not self._end.wait(_SECONDS_BETWEEN_LOOKS):
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    at = min(self.done, _DOCUMENTS - 1)
                    self.highest[at] = max(self.highest[at], process.memory_info().rss)

    def stop(self) -> None:
        self._end.set()
        self.join()


def memory_rows(readings: Sequence[Reading]) -> list[Row]:
    """Parse the readable documents without scans, 500 in turn, in the isolated pool."""
    sound = [one for one in readings if one.document is not None and one.format != "OCR"]
    if not sound:
        return [Row("memory of parsing 500 documents", None, note="no document can be read")]
    watch = _Watch()
    watch.start()
    started = time.perf_counter()
    failed = _parse_all(sound, watch)
    seconds = time.perf_counter() - started
    watch.stop()
    hundreds = [max(watch.highest[start : start + _PART]) for start in range(0, _DOCUMENTS, _PART)]
    say(f"    {', '.join(f'{peak / 1e6:,.0f} MB' for peak in hundreds)} a hundred; {seconds:.0f} s")
    bound = max(watch.highest[:DOCUMENTS_A_PROCESS])
    name = "largest parser process"
    return [
        Row(
            f"{name}, first {DOCUMENTS_A_PROCESS} of {_DOCUMENTS} documents", bound, "bytes", note="then it is replaced"
        ),
        Row(f"{name}, documents 1 to {_PART}", hundreds[0], "bytes"),
        Row(f"{name}, documents {_DOCUMENTS - _PART + 1} to {_DOCUMENTS}", hundreds[-1], "bytes", bound * _MORE),
        Row(f"of {_DOCUMENTS} documents through the pool, failed", failed, "documents", 0),
    ]


def _parse_all(readings: Sequence[Reading], watch: _Watch) -> int:
    failed = 0
    with ParserPool() as pool:
        samples = islice(cycle([one.sample for one in readings]), _DOCUMENTS)
        started = (
            pool.start(one.content, name=one.name, media_type=one.media_type, settings=ParsingSettings())
            for one in samples
        )
        ahead = deque(islice(started, _AHEAD))
        while ahead:
            try:
                ahead.popleft().result()
            except ParseError as error:
                say(f"    {error}")
                failed += 1
            watch.done += 1
            ahead.extend(islice(started, 1))
    return failed
