"""Messages name install commands that work: Sourcebook is on no package index."""

import json
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from sourcebook import installation
from sourcebook.installation import code_location, install_command, is_checkout, package_version
from tests.checkout import CHECKOUT


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Put an installed `sourcebook` first on the path, and return the file in which pip recorded its origin."""
    folder = tmp_path / "sourcebook-9.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: sourcebook\nVersion: 9\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder / "direct_url.json"


@pytest.mark.parametrize(
    ("origin", "target"),
    [
        ({"url": "file:///srv/my%20docs", "dir_info": {"editable": True}}, ["-e", "/srv/my docs[pipeline]"]),
        ({"url": "file:///srv/sourcebook", "dir_info": {}}, ["sourcebook[pipeline] @ file:///srv/sourcebook"]),
        (
            {"url": "file:///srv/sourcebook-9-py3-none-any.whl", "archive_info": {}},
            ["sourcebook[pipeline] @ file:///srv/sourcebook-9-py3-none-any.whl"],
        ),
        (
            {"url": "https://example.com/s.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            ["sourcebook[pipeline] @ git+https://example.com/s.git@abc"],
        ),
    ],
)
def test_an_extra_is_installed_from_where_the_library_came_from(
    recorded: Path, origin: dict[str, object], target: list[str]
) -> None:
    """A checkout, a folder, a wheel, a repository: as pip recorded it, with this interpreter's pip."""
    recorded.write_text(json.dumps(origin))
    pip = [sys.executable, "-m", "pip", "install"]
    assert shlex.split(install_command("pipeline")) == [*pip, *target]
    assert shlex.split(install_command("pipeline", again=True)) == [*pip, "--force-reinstall", *target]


def test_without_a_record_the_checkout_is_meant(recorded: Path) -> None:
    assert not recorded.exists()
    assert shlex.split(install_command("pipeline"))[-2:] == ["-e", f"{CHECKOUT}[pipeline]"]


def test_the_command_for_this_checkout_resolves() -> None:
    """pip accepts it; nothing is installed."""
    command = [*shlex.split(install_command("server")), "--dry-run", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Would install sourcebook" in done.stdout


def test_the_code_location_of_a_checkout_is_the_checkout() -> None:
    assert is_checkout()
    assert code_location() == CHECKOUT


def test_a_library_alone_has_no_code_location(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(installation, "_ROOT", tmp_path / "sourcebook")
    assert code_location() is None
    assert not is_checkout()


def test_no_message_and_no_page_installs_sourcebook_from_an_index() -> None:
    """Neither the code nor the documentation says `pip install sourcebook…`."""
    folders = ("sourcebook", "orchestration", "assets", "sensors", "resources", "benchmarks", "docs")
    paths = [CHECKOUT / "README.md", *(path for folder in folders for path in (CHECKOUT / folder).rglob("*.*"))]
    texts = {path: path.read_text(encoding="utf-8") for path in paths if path.suffix in {".py", ".md", ".sql"}}
    wrong = re.compile(r"pip install (?:--?\S+ )*['\"]?sourcebook\b(?!-)")
    found = [str(path) for path, text in texts.items() if wrong.search(text) and path.parent.name != "decisions"]
    assert found == []


@pytest.mark.parametrize("package", ["pydantic", "psycopg", "lxml", "typer", "sourcebook"])
def test_versions_of_packages_are_those_of_the_standard_library(package: str) -> None:
    assert package_version(package) == version(package)


def test_a_package_that_is_not_installed_is_absent() -> None:
    assert package_version("no-such-package") == "absent"


def test_a_version_is_read_from_metadata_of_any_kind(recorded: Path) -> None:
    """A readme may speak of versions; an egg has its metadata in another file."""
    metadata = recorded.with_name("METADATA")
    metadata.write_text("Metadata-Version: 2.1\r\nName: sourcebook\r\nVersion: 9.1\r\n\r\nVersion: 3")
    installation.package_version.cache_clear()
    assert package_version("sourcebook") == "9.1"
    metadata.rename(recorded.with_name("PKG-INFO"))
    installation.package_version.cache_clear()
    assert package_version("sourcebook") == "9.1"
    installation.package_version.cache_clear()
