"""A release is made of what is committed, of a version that the changelog describes."""

import subprocess
import tomllib
from datetime import date
from pathlib import Path

import pytest

from release.running import ReleaseError
from release.sbom import needed, of_packages
from release.source import check_source, dated
from tests.checkout import CHECKOUT

TODAY = date(2026, 11, 30)
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - unreleased\n\n- It searches.\n"


def test_the_changelog_describes_the_version_of_the_checkout() -> None:
    """`make release` would find its entry."""
    version = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\n## [{version}] - " in (CHECKOUT / "CHANGELOG.md").read_text()


def test_the_day_is_written_into_the_changelog() -> None:
    written = dated(CHANGELOG, "0.1.0", TODAY)
    assert written == CHANGELOG.replace("- unreleased", "- 2026-11-30")
    assert dated(written, "0.1.0", date(2027, 1, 1)) == written


@pytest.mark.parametrize(
    ("changelog", "reason"),
    [
        (CHANGELOG.replace("0.1.0", "0.0.9"), "says nothing under"),
        (CHANGELOG.replace("- It searches.", ""), "says nothing under"),
        (CHANGELOG.replace("[Unreleased]\n", "[Unreleased]\n\n- It finds.\n"), "move them under"),
    ],
)
def test_a_version_without_its_changes_is_refused(changelog: str, reason: str) -> None:
    with pytest.raises(ReleaseError, match=reason):
        dated(changelog, "0.1.0", TODAY)


def test_changed_files_and_tagged_versions_are_refused(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        subprocess.run(["git", *author, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    (tmp_path / "a").write_text("a")
    with pytest.raises(ReleaseError, match="commit or remove first"):
        check_source(tmp_path, "0.1.0")
    git("add", "a")
    git("commit", "--message", "a")
    check_source(tmp_path, "0.1.0")
    git("tag", "--annotate", "v0.1.0", "--message", "a")
    with pytest.raises(ReleaseError, match="raise the version"):
        check_source(tmp_path, "0.1.0")


def test_the_sbom_has_what_the_product_needs_and_no_tools() -> None:
    names = needed("sourcebook", "pipeline")
    assert {"sourcebook", "psycopg", "psycopg-binary", "dagster", "torch"} <= names
    assert not {"pytest", "moto", "mypy"} & names
    bom = {
        "metadata": {"component": {"bom-ref": "root"}},
        "components": [{"name": "psycopg", "bom-ref": "a"}, {"name": "pytest", "bom-ref": "b"}],
        "dependencies": [{"ref": "root", "dependsOn": ["a", "b"]}, {"ref": "a"}, {"ref": "b"}],
    }
    assert of_packages(bom, names) == {
        "metadata": {"component": {"bom-ref": "root"}},
        "components": [{"name": "psycopg", "bom-ref": "a"}],
        "dependencies": [{"ref": "root", "dependsOn": ["a"]}, {"ref": "a", "dependsOn": []}],
    }
