"""Reasons of failed tests in a few lines each: the last that `make test` prints, as a log's end is what people get."""

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree as ET

from tests.durations import path_of

LINES = 15
"""Lines of a test's reason, at most."""
ROOM = 9_000
"""Characters of all reasons together, about: who keeps a log's last 12,000 gets these and the table behind them."""
_WIDTH = 300
"""Characters of a line, at most."""
_SAID = re.compile(r"E( |$)")
"""Begin of a line of pytest that says what is wrong."""
_PLACE = re.compile(r"\S+\.py:\d+: ")
"""Begin of a line of pytest that says where an error went through a function."""


def reasons(report: Path) -> dict[str, str]:
    """Return what went wrong first in each failed test of a layer, by the test's name as pytest takes it.

    Args:
        report: pytest's report in JUnit's format.
    """
    found: dict[str, str] = {}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest's own
        for outcome in case:
            if outcome.tag in {"failure", "error"}:
                found.setdefault(name_of(case), "\n".join(_first_reason((outcome.text or "").splitlines())))
    return found


def shortened(failed: dict[str, str], room: int = ROOM) -> Iterator[str]:
    """Yield each failed test with its reason; where many failed, they share the room, and the last keep their names."""
    share = room // max(len(failed), 1)
    for name, reason in failed.items():
        yield name
        taken = len(name)
        for line in reason.splitlines():
            taken += len(line)
            if taken > share:
                break
            yield f"    {line}"


def name_of(case: ET.Element) -> str:
    """Return a test's name; a file that cannot be imported has only its own."""
    module, name = str(case.get("classname", "")), str(case.get("name"))
    names = (module or name).split(".")
    path = path_of(names)
    classes = names[len(Path(path).with_suffix("").parts) :] if path.endswith(".py") else []
    return "::".join([path, *classes, *([name] if module else [])])


def _first_reason(lines: list[str]) -> list[str]:
    """Return where an error was raised and what it says, the first of a chain first; the end of lines without one."""
    places = [line for line in lines if _PLACE.match(line)]
    said = dedent("\n".join(line[1:] for line in lines if _SAID.match(line))).splitlines()
    found = [*places[:1], *places[1:][-1:], *said][:LINES] if said else lines[-LINES:]
    return [line[:_WIDTH] for line in found]
