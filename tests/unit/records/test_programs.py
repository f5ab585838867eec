"""Programs that are named by an entry point of a package, and read failed records once more."""

import subprocess
import sys
from pathlib import Path

import pytest

from sourcebook.config.records import RecordSource
from sourcebook.errors import ListingError
from sourcebook.records import Checkpoint, Deleted
from sourcebook.records.programs import changes_of

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "boards-of-tests"
version = "1.0"
[project.entry-points."sourcebook.sources"]
boards-of-tests = "boards_of_tests:Boards"
"""
MODULE = """\
from sourcebook.records import Checkpoint

class Boards:
    def __init__(self, number):
        self.number = number

    def changes(self, cursor):
        yield from ({"id": each} for each in range(self.number))
        yield Checkpoint(self.number, complete=cursor is None)

    def read(self, key):
        return {"id": key, "again": True} if key == "1" else None


class Dated:
    def __init__(self, number):
        self.number = number

    def changes(self, cursor):
        yield Checkpoint({7: float("nan"), 8: {1}, 9: "\\0"}[self.number])

class Leaving:
    def __init__(self, number):
        raise SystemExit("no token")
"""


def settings(use: str, number: int = 2) -> RecordSource:
    python = {"use": use, "arguments": {"number": number}}
    return RecordSource.model_validate({"name": "n", "python": python, "key": "id", "text": "body"})


def test_an_installed_package_names_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its entry point is found by name; `read` gives failed records once more; a cursor that is no JSON is refused."""
    (tmp_path / "boards_of_tests").mkdir()
    (tmp_path / "boards_of_tests" / "__init__.py").write_text(MODULE)
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    pip += ["--disable-pip-version-check", "--target", str(tmp_path / "installed"), str(tmp_path)]
    subprocess.run(pip, check=True, capture_output=True)
    with pytest.raises(ListingError, match="no installed package has the entry point"):
        list(changes_of(settings("boards-of-tests"), None))
    monkeypatch.syspath_prepend(str(tmp_path / "installed"))
    assert list(changes_of(settings("boards-of-tests"), None, ["1", "7"])) == [
        {"id": "1", "again": True},
        Deleted("7"),
        {"id": 0},
        {"id": 1},
        Checkpoint(2, complete=True),
    ]
    for number, said in {7: "Out of range float", 8: "set is not JSON serializable", 9: "NUL"}.items():
        with pytest.raises(ListingError, match=f"boards_of_tests:Dated fails: .*{said}"):
            list(changes_of(settings("boards_of_tests:Dated", number), None))
    with pytest.raises(ListingError, match="boards_of_tests:Leaving fails: SystemExit: no token"):
        list(changes_of(settings("boards_of_tests:Leaving"), None))
