"""Processor seconds of each test, its own and those of children that ended in it: a plugin for pytest.

Servers of databases, and what else outlives a test or is another's child, are not in it.
"""

import resource
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.failures import name_of

PLUGIN = __name__
"""Name of this plugin for pytest's option `-p`."""
PROPERTY = "processor_seconds"
"""Property of a test in pytest's report in JUnit's format."""
SHOWN = 8
"""Tests of a layer that are listed."""
_BEGUN = pytest.StashKey[float]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note where a test begins, with its fixtures; one that is shared counts for the first test that asks for it."""
    item.stash[_BEGUN] = _used()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Have the report of a test's end say what the test took."""
    if call.when == "teardown":
        item.user_properties.append((PROPERTY, f"{_used() - item.stash[_BEGUN]:.1f}"))


def most(report: Path) -> list[tuple[float, str]]:
    """Return the tests of a report that took most, with their seconds and names, the longest first."""
    found = [
        (float(each.get("value", 0)), name_of(case))
        for case in ET.parse(report).iter("testcase")  # noqa: S314 - pytest's own
        for each in case.iter("property")
        if each.get("name") == PROPERTY
    ]
    return sorted(found, reverse=True)[:SHOWN]


def _used() -> float:
    """Return the processor seconds of this process, and of its children that have ended."""
    return sum(
        each.ru_utime + each.ru_stime
        for each in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
