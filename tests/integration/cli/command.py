"""The `sourcebook` command, run in this process or as one of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from sourcebook.command.app import app
from tests.checkout import CHECKOUT

Ingest = Callable[[Path], int]
PROGRAM = [sys.executable, "-c", "from sourcebook.command import main; main()"]
_started: "list[subprocess.Popen[str]]" = []


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: str, stdin: str = "") -> Ran:
    """Run the command in this process."""
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    assert "Traceback" not in result.output
    return Ran(result.exit_code, result.stdout, result.stderr)


def start(*arguments: str) -> "subprocess.Popen[str]":
    """Start the command as a process of its own, which ends with its test at the latest."""
    here = str(CHECKOUT)
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": here},
    )
    _started.append(process)
    return process


def end_started() -> None:
    """End what was started and still runs, as where a test has failed, and close its pipes."""
    while _started:
        process = _started.pop()
        if process.poll() is None:
            process.kill()
        with process:
            pass


def configure(folder: Path, *collections: str) -> Path:
    path = folder / "sourcebook.yaml"
    path.write_text("collections:\n" + "".join(f"  {name}:\n    files: [{{root: ./docs}}]\n" for name in collections))
    return path
