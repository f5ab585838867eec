"""Frameworks are imported by those who import their module, and by nothing else."""

import subprocess
import sys

import pytest

from tests.checkout import CHECKOUT

_MODULES = {"langchain": "langchain_core", "llamaindex": "llama_index", "haystack": "haystack"}


@pytest.mark.parametrize("framework", sorted(_MODULES))
def test_a_missing_framework_is_told_with_the_command_that_installs_it(framework: str) -> None:
    """Where it is not installed, the module says so in a sentence; everything below it imports without it."""
    code = (
        "import sys\n"
        f"sys.modules[{_MODULES[framework]!r}] = None\n"
        "import sourcebook.frameworks.searching\n"
        "from sourcebook.errors import MissingDependencyError\n"
        "try:\n"
        f"    import sourcebook.frameworks.{framework}\n"
        "except MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert "is not installed: run  " in ran.stdout
    assert f"[{framework}]" in ran.stdout


def test_nothing_else_imports_them() -> None:
    """No module of the library names a framework outside its own file."""
    allowed = {CHECKOUT / "sourcebook" / "frameworks" / f"{name}.py" for name in _MODULES}
    for path in (CHECKOUT / "sourcebook").rglob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        named = [
            line for line in lines if line.lstrip().startswith(tuple(f"from {each}" for each in _MODULES.values()))
        ]
        named += [
            line for line in lines if "import sourcebook.frameworks" in line or "from sourcebook.frameworks" in line
        ]
        assert not named or path in allowed or path.parent.name == "frameworks", (path, named)
