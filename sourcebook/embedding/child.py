"""Start the child of an `EmbeddingProcess`, and say in a sentence how it ended."""

import os
import subprocess
import sys
from signal import Signals
from typing import IO


def start_child(errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start `sourcebook.embedding.worker` with pipes to its stdin and stdout.

    Args:
        errors: The file that takes its stderr.

    Raises:
        OSError: It cannot be started.
    """
    # Without this process's module search path it might not find what this process finds.
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)  # noqa: PTH109 - a string is wanted
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "sourcebook.embedding.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={**os.environ, "PYTHONPATH": path},
        process_group=0,  # Ctrl-C in the terminal reaches the parent alone
    )


def describe_exit(name: str, status: int | None, errors: IO[bytes]) -> str:
    """Say in one sentence how the child ended.

    Args:
        name: The model it embedded with.
        status: Its exit status, negative for a signal; None where it has closed its pipe but still runs.
        errors: The file with its stderr, whose last line is usually the reason.
    """
    subject = f"The embedding process for {name!r}"
    errors.seek(0)
    said = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
    if status is None or status >= 0:
        return f"{subject} ended with exit status {status}: {said or 'it said nothing.'}"
    signal = Signals(-status).name
    hint = " (often a lack of memory: free some, or embed with a smaller model)" if signal == "SIGKILL" else ""
    return f"{subject} was ended by {signal}{hint}{': ' + said if said else '.'}"
