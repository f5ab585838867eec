"""Import a file of tests in the process that runs it, when its turn has come: a plugin for pytest-xdist.

Otherwise each of the processes side by side imports every file, and finds the tests of all, before the first one runs.
The processes share out the files, and those of `TOGETHER` as one; the reports are those of the tests.
"""

import gc
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped] # has no stubs

PLUGIN = __name__
"""Name of this plugin for pytest's option `-p`."""
TOGETHER = (
    ("tests/unit/embedding/",),
    ("tests/unit/speech/", "tests/unit/search/test_reranking", "tests/unit/parsing/pdf/test_docling_pipeline.py"),
)
"""Begins of the paths of files that run in one process: it imports torch, in 8 s, and loads their models once."""
_MANY_MODULES = 100
"""Imported modules whose objects are too many for Python's garbage collector to look at them again."""


class UnopenedTests(pytest.Item):
    """All tests of a file that is not imported yet."""

    def runtest(self) -> None:
        """Run no test: `pytest_runtest_protocol` does."""
        raise AssertionError(self.nodeid)

    def open(self) -> list[pytest.Item]:
        """Import the file and return the selected tests in their order; a failure is reported as one of collection."""
        known = len(sys.modules)
        gc.disable()
        try:
            assert self.parent is not None
            module = pytest.Module.from_parent(self.parent.parent, path=self.path)
            items = list(self.session.genitems(module))
            self.config.hook.pytest_collection_modifyitems(session=self.session, config=self.config, items=items)
        finally:
            if len(sys.modules) - known > _MANY_MODULES:
                gc.freeze()
            gc.enable()
        return items


class UnopenedFile(pytest.File):
    """A file of tests in the place of its module."""

    def collect(self) -> Iterator[UnopenedTests]:
        """Yield one item, which has no limit of time: its tests have theirs."""
        item = UnopenedTests.from_parent(self, name=self.path.name, nodeid=self.nodeid)
        item.add_marker(pytest.mark.timeout(0))  # none for the file: a test has its own
        yield item


class FilesScheduling(LoadFileScheduling):  # type: ignore[misc] # has no types
    """Give each process whole files, and those together that share what takes long to load."""

    def _split_scope(self, nodeid: str) -> str:
        """Return the first path of the files that run with a test's."""
        return next((paths[0] for paths in TOGETHER if nodeid.startswith(paths)), super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FilesScheduling:
    """Share out files."""
    return FilesScheduling(config, log)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector:
    """Import nothing while tests are collected."""
    unopened: pytest.Collector = UnopenedFile.from_parent(parent, path=module_path)
    return unopened


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run the tests of a file, and report each of them."""
    if not isinstance(item, UnopenedTests):
        return None
    session = item.session
    place = session.items.index(item)
    tests = item.open()
    try:
        for test, following in pairwise([*tests, nextitem]):
            assert test is not None
            session.items[place] = test  # xdist compares it with the report
            test.ihook.pytest_runtest_protocol(item=test, nextitem=following)
            if session.shouldfail or session.shouldstop:
                break
    finally:
        session.items[place] = item
    return True
