"""Folders of packages that tests need beside this environment, which one run after the other finds again."""

import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.checkout import CHECKOUT

SECONDS: Final = 240
_PIP: Final = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--disable-pip-version-check")


class NotInstalledError(Exception):
    """No index has the packages, or not in time."""


def installed(packages: Path, name: str) -> Path:
    """Return the folder below `build/` with the packages of a list, which is made where it is not there.

    Raises:
        NotInstalledError: pip cannot install them; the message says why.
    """
    content = sha256(packages.read_bytes() + sys.version.encode()).hexdigest()[:16]
    folder = CHECKOUT / "build" / f"{name}-{content}"
    if not folder.is_dir():
        folder.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=folder.parent) as made:
            _install(packages, Path(made) / "packages")
            shutil.move(Path(made) / "packages", folder)
    return folder


def _install(packages: Path, folder: Path) -> None:
    command = [sys.executable, *_PIP, "--target", str(folder), "--requirement", str(packages)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NotInstalledError(f"pip did not install {packages.name} within {SECONDS} s") from None
    if ran.returncode:
        lines = [line for line in ran.stderr.splitlines() if line.startswith("ERROR")]
        raise NotInstalledError(f"pip cannot install them: {lines[-1] if lines else ran.stderr[-300:]}")
