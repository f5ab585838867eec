"""Runs of schemathesis against a server: every check that it has, what its schemas cannot tell allowed for."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sourcebook.contract.access import AccessKey

CONFIGURATION: Final = """\
hooks = "hooks.py"
max-stream-events = 1
request-timeout = 30
continue-on-failure = true
[checks.positive_data_acceptance]
# 400: a value that no schema can tell, such as a filter, a cursor, or the name of a model. 404: of another key.
expected-statuses = ["2xx", "3xx", 400, 401, 403, 404, 409, 410, 412, 429]
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 406, 409, 410, 412, 413, 415, 422, 428, 429]
[auth.openapi.key]
bearer = "{key}"
"""
HOOKS: Final = """\
import re
from uuid import uuid4

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    # Two requests with one key are refused, which no schema can say: each has its own.
    for name, value in list((case.headers or {}).items()):
        if name.lower() == "idempotency-key" and re.fullmatch("[!-~]{1,200}", str(value)):
            case.headers[name] = uuid4().hex
    if str((case.path_parameters or {}).get("key")) == "OWN":
        case.path_parameters["key"] = 1  # a run that revokes its own key sees nothing but 401 from there on
"""
PHASES: Final = ("examples", "coverage", "fuzzing", "stateful")
"""Phases of a run: the description's examples, boundary values, random cases, and cases that use answers of others."""
_TABLES: Final = Path(__file__).parents[2] / ".hypothesis"
"""The checkout's folder of Hypothesis, whose tables of Unicode a run would make for itself in four seconds."""
TIMEOUT: Final = 400
"""Seconds of a run, at most."""


def run_schemathesis(
    port: int,
    key: tuple[AccessKey, str],
    folder: Path,
    *,
    examples: int,
    seed: int,
    seconds: int | None = None,
    phases: Sequence[str] = PHASES,
) -> tuple[int, str]:
    """Run examples, boundary values, random and stateful requests; return the exit status and the output.

    Args:
        port: of the server, on this machine.
        key: a key of the server, and its text.
        folder: the working folder of the run.
        examples: random cases of an operation.
        seed: of the random cases.
        seconds: budget of the run; none where None.
        phases: those of `PHASES` to run.
    """
    (folder / "schemathesis.toml").write_text(CONFIGURATION.format(key=key[1]), encoding="utf-8")
    (folder / "hooks.py").write_text(HOOKS.replace("OWN", str(key[0].id)), encoding="utf-8")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "--no-color", "run"]
    command += [f"http://127.0.0.1:{port}/openapi.json", "--checks", "all", "--warnings", "off"]
    command += ["--max-examples", str(examples), "--seed", str(seed), "--generation-database", "none"]
    command += ["--phases", ",".join(phases)]
    command += [] if seconds is None else ["--max-time", str(seconds)]
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env={"HYPOTHESIS_STORAGE_DIRECTORY": str(_TABLES), **os.environ, "COLUMNS": "200"},
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def violations_in(output: str) -> list[str]:
    """Return what an output says of each violation: the operation and the name of the check."""
    found = []
    operation = ""
    for line in output.splitlines():
        heading = re.fullmatch(r"_+ (\S.*\S) _+", line)
        check = re.match(r"\s*- (ST\d+ .*)", line)
        operation = heading[1] if heading is not None else operation
        if check is not None:
            found.append(f"{operation}: {check[1]}")
    return found
