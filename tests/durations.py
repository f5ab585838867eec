"""Seconds of the files of tests: the longest of a folder begin, so that processes side by side end at about one time.

`TEST_DURATIONS=write make test`, on a machine with nothing else to do, writes `tests/durations.txt` again. A file that
is not in it takes a moment, or is new and is recorded with the next writing.
"""

import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.checkout import CHECKOUT

RECORD = CHECKOUT / "tests/durations.txt"
"""One line a file: seconds and path, in each layer the longest first."""
VARIABLE = "TEST_DURATIONS"
"""Environment variable that asks for the record to be written again."""
LEAST_SECONDS = 2
"""A file that takes less is not recorded: its place in the order makes no difference."""


def recorded() -> dict[str, int]:
    """Return the seconds of each recorded file."""
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    return {path: int(seconds) for seconds, path in (line.split() for line in lines)}


def places() -> dict[str, float]:
    """Return the place of each recorded file in the order of its layer: the share of its folder's seconds before it.

    The longest files of a folder begin, and the folders of a layer keep step: tests that wait run beside those that
    compute until the end.
    """
    files: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for path, seconds in recorded().items():
        files[path.split("/")[1]].append((seconds, path))
    found: dict[str, float] = {}
    for folder in files.values():
        before, total = 0, sum(seconds for seconds, _ in folder)
        for seconds, path in sorted(folder, reverse=True):
            found[path] = before / total
            before += seconds
    return found


def are_wanted() -> bool:
    """Return whether the environment asks for a new record."""
    return os.environ.get(VARIABLE) == "write"


def record(report: Path) -> None:
    """Put the files of a layer's report into the record, in place of what it says about them.

    Args:
        report: pytest's report in JUnit's format; a test's class name there begins with its module.
    """
    taken: dict[str, float] = defaultdict(float)
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest's own
        taken[path_of(str(case.get("classname")).split("."))] += float(case.get("time", 0))
    seconds = {path: value for path, value in recorded().items() if path not in taken}
    seconds |= {path: round(value) for path, value in taken.items() if value >= LEAST_SECONDS}
    RECORD.write_text("".join(_lines(seconds)), encoding="utf-8")


def path_of(names: list[str]) -> str:
    """Return the path of a test's file, below the checkout; the names behind it are those of classes."""
    for end in range(len(names), 0, -1):
        path = Path(*names[:end]).with_suffix(".py")
        if (CHECKOUT / path).is_file():
            return path.as_posix()
    return ".".join(names)


def _lines(seconds: dict[str, int]) -> Iterable[str]:
    for path in sorted(seconds, key=lambda path: (path.split("/")[1], -seconds[path], path)):
        if (CHECKOUT / path).is_file():
            yield f"{seconds[path]:4} {path}\n"
