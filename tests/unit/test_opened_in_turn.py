"""Files of tests that are imported when their turn has come."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

from tests import failures, processor_seconds
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
    "test_other.py": """\
import subprocess
import sys

BUSY = "import time\\nwhile time.process_time() < 0.5: pass"

def test_passes():
    subprocess.run([sys.executable, "-c", BUSY], check=True)
""",
}


def test_every_test_runs_once_and_what_cannot_be_imported_is_an_error(tmp_path: Path) -> None:
    """Tests are named, selected and counted as where every process imports every file; what each took is known."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = alone: another layer\n")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", ".", "--import-mode=importlib", f"--junitxml={report}"]
    command += ["-p", processor_seconds.PLUGIN]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    options = side_by_side(1, all_tests=True)
    done = subprocess.run([*command, *options], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, check=False)
    found = {
        (case.get("classname"), case.get("name")): {child.tag for child in case} - {"properties"}
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
    said = failures.reasons(report)
    assert set(said) == {"test_broken", "test_many.TestOne::test_fails"}
    assert said["test_broken"].splitlines()[-1] == "ModuleNotFoundError: No module named 'nothing_of_this_name'"
    assert said["test_many.TestOne::test_fails"].splitlines() == ["test_many.py:19: AssertionError", "assert False"]
    first, *others = processor_seconds.most(report)
    assert first[1] == "test_other::test_passes"
    assert first[0] >= 0.5
    assert len(others) == 4


def test_the_reasons_of_many_failures_are_short(tmp_path: Path) -> None:
    """The first error of a chain is said, and where it was; a hundred failures keep their names, and share the room."""
    text = "\n".join(
        [
            "    def test():",
            ">   call()",
            "",
            "tests/x.py:3: in test",
            "E   KeyError: 'a'",
            "",
            "more",
            "E   ValueError: b",
            *["E     a long difference"] * 50,
            "",
            "sourcebook/y.py:7: ValueError",
        ]
    )
    case = ET.Element("testcase", classname="tests.unit.test_opened_in_turn.TestX", name="test_y[1]")
    ET.SubElement(case, "failure").text = text
    report = tmp_path / "report.xml"
    ET.ElementTree(case).write(report)
    ((name, reason),) = failures.reasons(report).items()
    assert name == "tests/unit/test_opened_in_turn.py::TestX::test_y[1]"
    assert reason.splitlines()[:4] == [
        "tests/x.py:3: in test",
        "sourcebook/y.py:7: ValueError",
        "KeyError: 'a'",
        "ValueError: b",
    ]
    assert len(reason.splitlines()) == failures.LINES
    assert list(failures.shortened({name: reason}))[1] == "    tests/x.py:3: in test"
    many = list(failures.shortened({f"test_{number}": reason for number in range(100)}))
    assert sum(line.startswith("test_") for line in many) == 100
    assert sum(map(len, many)) < failures.ROOM * 1.5
