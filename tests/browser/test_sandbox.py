"""Chromium's own sandbox: who starts it with, and who without."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sourcebook.web.browser.chromium import find_chromium
from tests.checkout import CHECKOUT
from tests.integration.stages import NOBODY

VARIABLE = "SOURCEBOOK_CHROMIUM_SANDBOX"
WITHOUT = "--no-sandbox"

# Everything is imported before the user changes: another one may not be allowed to read it.
SCRIPT = """
import asyncio, contextlib, os, sys
import psutil
from sourcebook.web.browser.chromium import Browser
from tests.browser.processes import chromium_processes

async def start():
    async with Browser(9):
        for process in chromium_processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                print(*process.cmdline())

user = int(sys.argv[1])
if user != os.getuid():
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
asyncio.run(start())
"""


def command_lines(folder: Path, user: int, setting: str | None) -> list[str]:
    """Start a Chromium from a Python of a user's own, and return the command lines of all its processes."""
    environment = {**os.environ, "HOME": str(folder), "TMPDIR": str(folder)}
    environment.pop(VARIABLE, None)
    if setting is not None:
        environment[VARIABLE] = setting
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(user)],
        env=environment,
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()


def is_main(command_line: str) -> bool:
    return "--type=" not in command_line


def can_make_a_sandbox(folder: Path, user: int) -> bool:
    """Whether this machine lets a user's Chromium have one, which most containers do not."""
    profile = f"--user-data-dir={folder / 'probe'}"
    ended = subprocess.run(
        [str(find_chromium()), "--headless=new", "--disable-gpu", profile, "--dump-dom", "about:blank"],
        env={**os.environ, "HOME": str(folder)},
        user=user if os.getuid() == 0 else None,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return ended.returncode == 0


@pytest.fixture
def somebody(public_folder: Path) -> int:
    """A user who is not root, and who may write to the folder."""
    public_folder.chmod(0o777)
    return os.getuid() or NOBODY


@pytest.mark.parametrize("setting", [None, "on"])
def test_chromium_keeps_its_sandbox(public_folder: Path, somebody: int, setting: str | None) -> None:
    """Unless it is told otherwise: none of its processes runs without."""
    if not can_make_a_sandbox(public_folder, somebody):
        pytest.skip("no sandbox can be made on this machine")
    found = command_lines(public_folder, somebody, setting)
    assert [is_main(line) for line in found].count(True) == 1
    assert [line for line in found if WITHOUT in line] == []


def test_off_starts_chromium_without_its_sandbox(public_folder: Path, somebody: int) -> None:
    """As a container needs it, where nobody may make one."""
    (main,) = [line for line in command_lines(public_folder, somebody, "off") if is_main(line)]
    assert WITHOUT in main.split()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be root")
@pytest.mark.parametrize("setting", [None, "on", "off"])
def test_root_has_no_sandbox_whatever_is_set(public_folder: Path, setting: str | None) -> None:
    """Chromium refuses to be root in its sandbox; without it, it starts."""
    (main,) = [line for line in command_lines(public_folder, 0, setting) if is_main(line)]
    assert WITHOUT in main.split()
