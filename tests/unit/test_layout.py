"""The folders of the unit tests follow those of the library."""

from tests.checkout import CHECKOUT

UNIT = CHECKOUT / "tests" / "unit"
ELSEWHERE = {"benchmarks": CHECKOUT / "benchmarks", "orchestration": CHECKOUT / "orchestration"}
"""Folders of unit tests whose subject is outside `sourcebook`."""


def test_each_folder_of_unit_tests_has_a_folder_or_module_in_the_library() -> None:
    """Whoever knows a module finds its tests, and the other way round."""
    folders = {path.parent.relative_to(UNIT) for path in UNIT.rglob("*.py")}
    assert len(folders) > 10
    for folder in sorted(folders):
        first, *rest = folder.parts or ("",)
        subject = ELSEWHERE.get(first, CHECKOUT / "sourcebook" / first).joinpath(*rest)
        assert subject.is_dir() or subject.with_suffix(".py").is_file(), f"tests/unit/{folder} mirrors nothing"
