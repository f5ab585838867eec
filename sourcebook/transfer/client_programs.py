"""PostgreSQL's programs pg_dump, pg_restore and psql: those of the embedded server's wheel, or of this machine."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sourcebook.database.embedded import programs_folder
from sourcebook.errors import MissingDependencyError, TransferError
from sourcebook.installation import install_command
from sourcebook.processes.child import send_signal_at_parent_death


def find_program(name: str) -> str:
    """Return the path of a program.

    Raises:
        MissingDependencyError: neither the wheel nor PostgreSQL's client programs are installed.
    """
    try:
        found = programs_folder() / "bin" / name
    except MissingDependencyError:
        on_path = shutil.which(name)
        if on_path is not None:
            return on_path
    else:
        return str(found)
    raise MissingDependencyError(
        f"{name} is not installed: install PostgreSQL's client programs, of the server's version or newer, or run  "
        f"{install_command('server')}"
    )


def connection_arguments(url: str) -> tuple[str, dict[str, str]]:
    """Return the `--dbname` of a program and its environment, which has the password: other users see arguments.

    The program takes parts that the URL leaves open, such as host and password, from libpq's variables, as Sourcebook's
    own connections do.
    """
    options: dict[str, Any] = dict(conninfo_to_dict(url))
    password = options.pop("password", None)
    return make_conninfo(**options), {**os.environ, **({} if password is None else {"PGPASSWORD": str(password)})}


def start(
    program: str,
    arguments: Sequence[str],
    environment: dict[str, str],
    *,
    reads: IO[bytes] | int = subprocess.DEVNULL,
    writes: IO[bytes] | int = subprocess.DEVNULL,
    errors: IO[bytes],
    keeps: Sequence[int] = (),
) -> "subprocess.Popen[bytes]":
    """Start a program, which ends with this process however that ends, where the system can do so.

    Args:
        program: its name.
        arguments: its arguments.
        environment: its whole environment.
        reads: its standard input.
        writes: its standard output.
        errors: file for its error messages.
        keeps: descriptors that stay open in it.
    """
    command = [find_program(program), *arguments]
    return subprocess.Popen(
        command,
        env=environment,
        stdin=reads,
        stdout=writes,
        stderr=errors,
        pass_fds=keeps,
        preexec_fn=_end_with_caller,
    )


def _end_with_caller() -> None:
    send_signal_at_parent_death(signal.SIGKILL)


def last_error(errors: IO[bytes]) -> str:
    """Return the first error that a program has printed, in one line; else its last line."""
    errors.seek(0)
    lines = [line.strip() for line in errors.read(1 << 20).decode("utf-8", "replace").splitlines() if line.strip()]
    told = [line for line in lines if re.search(r"error:|ERROR:|FATAL:", line)] or lines[-1:]
    return re.sub(r"^\S+: (error: )?|^psql:<stdin>:\d+: ", "", told[0]) if told else "it gave no reason"


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a program that still runs."""
    if process.poll() is None:
        process.kill()
    with suppress(BrokenPipeError):
        if process.stdin is not None:
            process.stdin.close()
    process.wait()


def check_readable(file: Path) -> None:
    """Check that a backup is a file that can be read.

    Raises:
        TransferError: it is not.
    """
    try:
        with file.open("rb") as opened:
            head = opened.read(5)
    except OSError as error:
        raise TransferError(f"{file} cannot be read: {error.strerror}") from error
    if head != b"PGDMP":
        raise TransferError(f"{file} is no backup: it does not begin as a file of  sourcebook backup  does")
