"""Files of tests that are imported when their turn has come."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.checkout import CHECKOUT
from tests.layers import FAILURES, side_by_side

FILES = {
    "test_broken.py": "import nothing_of_this_name\n",
    "test_elsewhere.py": "import pytest\n\npytest.skip('not on this system', allow_module_level=True)\n",
    "test_many.py": """\
import pytest

@pytest.fixture(scope="module")
def made():
    made = []
    yield made
    assert made == [1, 2, 3]  # its end comes with the last test of the file

@pytest.mark.parametrize("number", [1, 2, 3])
def test_number(made, number):
    made.append(number)

@pytest.mark.alone
def test_alone():
    raise AssertionError("another layer's")

class TestOne:
    def test_fails(self):
        assert False
""",
    "test_none.py": "import os\n",
    "test_other.py": "def test_passes():\n    pass\n",
}


def test_every_test_runs_once_and_what_cannot_be_imported_is_an_error(tmp_path: Path) -> None:
    """Tests are named, selected and counted as where every process imports every file."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = alone: another layer\n")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", ".", "--import-mode=importlib", f"--junitxml={report}"]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    options = side_by_side(1, all_tests=True)
    done = subprocess.run([*command, *options], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, check=False)
    found = {
        (case.get("classname"), case.get("name")): {child.tag for child in case}
        for case in ET.parse(report).iter("testcase")  # noqa: S314 - pytest's own
    }
    assert found == {
        ("", "test_broken"): {"error"},
        ("", "test_elsewhere"): {"skipped"},
        ("test_many", "test_number[1]"): set(),
        ("test_many", "test_number[2]"): set(),
        ("test_many", "test_number[3]"): set(),
        ("test_many.TestOne", "test_fails"): {"failure"},
        ("test_other", "test_passes"): set(),
    }, done.stdout.decode()
    assert done.returncode == FAILURES
