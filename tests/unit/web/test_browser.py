"""Which browser is found, before any is started."""

from pathlib import Path

import pytest

from sourcebook.admin.doctor.machine import check_browser
from sourcebook.web.browser.chromium import find_chromium


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any browser."""
    monkeypatch.delenv("SOURCEBOOK_CHROMIUM", raising=False)
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("sys.platform", "linux")


def program(path: Path) -> Path:
    """Put a program there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_no_browser() -> None:
    """Where none is installed, none is found, and the doctor says what to install."""
    assert find_chromium() is None
    check = check_browser()
    assert check.state == "warn"
    assert "apt-get install chromium" in check.remedy


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge"])
def test_browser_on_the_path(tmp_path: Path, name: str) -> None:
    """A browser on PATH is found under each of its names."""
    there = program(tmp_path / "bin" / name)
    assert find_chromium() == there
    assert str(there) in check_browser().detail


def test_named_browser_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `SOURCEBOOK_CHROMIUM` names is taken, as a path or as a name on PATH."""
    program(tmp_path / "bin" / "chromium")
    own = program(tmp_path / "own" / "browser")
    beta = program(tmp_path / "bin" / "google-chrome-beta")
    monkeypatch.setenv("SOURCEBOOK_CHROMIUM", str(own))
    assert find_chromium() == own
    monkeypatch.setenv("SOURCEBOOK_CHROMIUM", "google-chrome-beta")
    assert find_chromium() == beta


def test_named_browser_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong `SOURCEBOOK_CHROMIUM` is not passed over in silence."""
    program(tmp_path / "bin" / "chromium")
    monkeypatch.setenv("SOURCEBOOK_CHROMIUM", "/nowhere/chromium")
    assert find_chromium() == Path("/nowhere/chromium")
    assert "SOURCEBOOK_CHROMIUM is /nowhere/chromium" in check_browser().detail


def test_newest_of_playwright(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `playwright install` has brought is found, the newest first, and where its variable says."""
    cache = tmp_path / "home" / ".cache" / "ms-playwright"
    program(cache / "chromium-999" / "chrome-linux" / "chrome")
    newest = program(cache / "chromium-1200" / "chrome-linux64" / "chrome")
    assert find_chromium() == newest
    elsewhere = program(tmp_path / "browsers" / "chromium-7" / "chrome-linux" / "chrome")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "browsers"))
    assert find_chromium() == elsewhere
