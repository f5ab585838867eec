"""Programs and environments that a release is made with."""

import subprocess
import sys
from pathlib import Path


class ReleaseError(Exception):
    """The version cannot be released; the message says why."""


def run(program: Path | str, *arguments: Path | str, folder: Path | None = None) -> str:
    """Run a program; return what it writes.

    Raises:
        ReleaseError: it fails.
    """
    command = [str(each) for each in (program, *arguments)]
    print("$", *command, file=sys.stderr)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReleaseError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def make_environment(folder: Path, *requirements: Path | str) -> Path:
    """Make an empty virtual environment, install requirements into it, and return its Python."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements)
    return python
