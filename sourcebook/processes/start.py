"""Start a child, and say in a sentence how it ended."""

import os
import subprocess
import sys
from signal import Signals
from typing import IO, BinaryIO

# OpenMP threads wait for each other by spinning, which starves them where other programs compute too: with both of two
# cores busy (load 5 to 7), passages were embedded at 6 to 22 a second so, and at 20 to 66 where threads sleep instead.
_PATIENT_THREADS = {"OMP_WAIT_POLICY": "PASSIVE"}


def start_child(module: str, errors: IO[bytes]) -> tuple[subprocess.Popen[bytes], BinaryIO]:
    """Start `python -m MODULE` with a pipe to its stdin and one for its answers.

    The answers have a pipe of their own, not stdout, so that nothing a library prints can get between them.

    Args:
        module: What it runs: a module that calls `serve`.
        errors: The file that takes its stderr.

    Returns:
        The process and the readable end of its answers.

    Raises:
        OSError: It cannot be started.
    """
    # Without this process's module search path it might not find what this process finds.
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)  # noqa: PTH109 - a string is wanted
    readable, writable = os.pipe()
    replies = os.fdopen(readable, "rb")
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(writable)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=[writable],
            env={**_PATIENT_THREADS, **os.environ, "PYTHONPATH": path},
            process_group=0,  # Ctrl-C in the terminal reaches the parent alone
        )
    except OSError:
        replies.close()
        raise
    finally:
        os.close(writable)
    return process, replies


def describe_exit(subject: str, status: int | None, errors: IO[bytes], *, advice: str) -> str:
    """Say in one sentence how the child ended.

    Args:
        subject: What the sentence begins with: the child.
        status: Its exit status, negative for a signal; None where it has closed its pipe but still runs.
        errors: The file with its stderr, whose last line is usually the reason.
        advice: What helps where there is too little memory, in the imperative.
    """
    errors.seek(0)
    said = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
    if status is None or status >= 0:
        return f"{subject} ended with exit status {status}: {said or 'it said nothing.'}"
    signal = Signals(-status).name
    hint = f" (often a lack of memory: {advice})" if signal == "SIGKILL" else ""
    return f"{subject} was ended by {signal}{hint}{': ' + said if said else '.'}"
