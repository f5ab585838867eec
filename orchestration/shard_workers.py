"""Worker processes of shards: forks of one process that has imported what a run needs.

Importing Dagster and the stages takes as long as bringing hundreds of notes up to date. Here one process does it, opens
nothing, and forks itself for each worker, which executes `sourcebook ingest --shard …` as if typed. The memory of the
modules is shared, too. Where a fork is not safe, on other systems than Linux, each worker imports for itself.
"""

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from tempfile import TemporaryFile
from typing import Any, Final, NoReturn

from sourcebook.cli.errors import FAILED, FAILED_ITEMS
from sourcebook.installation import code_location
from sourcebook.model.closing import Closing
from sourcebook.processes.child import end_with_parent, send_signal_at_parent_death
from sourcebook.processes.cores import divide_cores

PROGRAM: Final = """import sys
sys.path.insert(0, sys.argv[1])
from orchestration.shard_workers import main
from sourcebook.command import main as command
main(command)
"""
_MODULES: Final = (
    "sourcebook.command.app",
    "orchestration.ingest",
    "orchestration.run",
    "dagster_postgres",
    "sourcebook.admin.unmatched_roots",
    "sourcebook.embedding.embedder_pool",
    "sourcebook.parsing.parser_pool",
)
"""Modules that every worker imports."""
_OF_PROVIDERS: Final = ("openai.resources", "httpx2")
"""Modules of a worker whose vectors come from a server."""
_SECONDS_BETWEEN_LOOKS: Final = 0.2


@dataclass(frozen=True, slots=True)
class WorkerEnd:
    """The end of a worker."""

    output: bytes
    """JSON of the command on stdout."""
    problem: str | None
    """Why it failed; None where it did not."""


class ShardWorkers(Closing):
    """Workers that each execute a command; as a context manager it ends those that are left.

    Args:
        commands: the arguments of each worker's command.
        uses_provider: whether vectors come from a server.
    """

    def __init__(self, commands: Sequence[Sequence[str]], *, uses_provider: bool) -> None:
        self._outputs, self._problems, self._ends = (_files(len(commands)) for _ in range(3))
        self._files_of_servers: list[Any] = []
        self._servers: list[subprocess.Popen[bytes]] = []
        self._server_of: list[int] = []
        numbers = range(len(commands))
        for group in [list(numbers)] if sys.platform == "linux" else [[number] for number in numbers]:
            self._start([(number, list(commands[number])) for number in group], uses_provider=uses_provider)

    def close(self) -> None:
        """End the workers that still run."""
        for server in self._servers:
            if server.poll() is None:
                server.terminate()  # it terminates its workers, and waits for them
                server.wait()
        for file in (*self._outputs, *self._problems, *self._ends, *self._files_of_servers):
            file.close()

    def has_ended(self, number: int) -> bool:
        """Return whether a worker has ended."""
        return self._status(number) is not None or self._servers[self._server_of[number]].poll() is not None

    def outcome(self, number: int) -> WorkerEnd:
        """Return how a worker ended, once it has.

        Args:
            number: of its command, from 0.
        """
        server = self._server_of[number]
        while not self.has_ended(number):
            with suppress(subprocess.TimeoutExpired):
                self._servers[server].wait(_SECONDS_BETWEEN_LOOKS)
        output = _all_of(self._outputs[number])
        if self._status(number) in (0, FAILED_ITEMS):
            return WorkerEnd(output, None)
        errors = _all_of(self._problems[number]) or _all_of(self._files_of_servers[2 * server])
        return WorkerEnd(output, _sentence(errors.decode(errors="replace")) or "its process was killed")

    def _start(self, commands: Sequence[tuple[int, list[str]]], *, uses_provider: bool) -> None:
        output, jobs_file = _files(2)
        self._files_of_servers += [output, jobs_file]
        self._server_of += [len(self._servers)] * len(commands)
        jobs = [
            [arguments, *(file[number].fileno() for file in (self._outputs, self._problems, self._ends))]
            for number, arguments in commands
        ]
        jobs_file.write(json.dumps([os.getpid(), uses_provider, jobs]).encode())
        jobs_file.seek(0)
        self._servers.append(
            subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, str(code_location())],
                stdin=jobs_file,
                stdout=output,
                stderr=output,
                pass_fds=[file for _, *files in jobs for file in files if isinstance(file, int)],
            )
        )

    def _status(self, number: int) -> int | None:
        """Return the exit status of a worker, negative for a signal; None while it works."""
        server = self._server_of[number]
        if self._server_of.count(server) == 1:  # that worker itself
            return self._servers[server].poll()
        text = _all_of(self._ends[number])
        return int(text) if text.endswith(b"\n") else None


def main(command: Callable[[], None]) -> None:
    """Import what workers need, fork one for each job and wait for them; a worker executes its command.

    A process with one job does it itself. Stdin has the process id of the starting command, with which it ends, whether
    vectors come from a server, and the jobs: arguments, and files for output, problems and end.

    Args:
        command: executes `sourcebook` with the arguments of the process.
    """
    gc.disable()
    parent, uses_provider, jobs = json.load(sys.stdin)
    _end_with_command(parent)
    for name in (*_MODULES, *(_OF_PROVIDERS if uses_provider else ())):
        with suppress(ModuleNotFoundError):  # whoever needs it says so
            import_module(name)
    gc.freeze()  # a collection in a worker would copy the pages of every module
    if len(jobs) == 1:
        _become_worker(command, *jobs[0][:-1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the workers get it from the terminal, too
    workers: dict[int, int] = {}
    signal.signal(signal.SIGTERM, lambda _number, _frame: _terminate(workers))
    server = os.getpid()
    for arguments, output, problems, end in jobs:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        worker = os.fork()
        if worker == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
            end_with_parent(server)
            divide_cores(len(jobs))  # each with processes for every core would import as much again
            _become_worker(command, arguments, output, problems)
        workers[worker] = end
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    while workers:
        worker, status = os.wait()
        os.write(workers.pop(worker), b"%d\n" % os.waitstatus_to_exitcode(status))


def _end_with_command(parent: int) -> None:
    """Have this process be asked to end where the command is killed that started it, so that nobody works unseen."""
    if not send_signal_at_parent_death(signal.SIGTERM):
        end_with_parent(parent)
    elif os.getppid() != parent:  # it ended before the signal was set
        sys.exit(FAILED)


def _terminate(workers: dict[int, int]) -> None:
    for worker in list(workers):
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGTERM)


def _become_worker(command: Callable[[], None], arguments: Sequence[str], output: int, problems: int) -> NoReturn:
    """Execute the command of a worker; the process ends as one that was started for it."""
    for source, target in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (problems, 2)):
        os.dup2(source, target)
    sys.argv = ["sourcebook", *arguments]
    command()
    sys.exit(FAILED)  # the command ends with its status


def _sentence(errors: str) -> str:
    """Return the error of a command without the warnings of libraries before it; all of it where it has no sentence."""
    _, mark, sentence = f"\n{errors}".rpartition("\nsourcebook: ")
    return (sentence if mark else errors).strip()


def _files(number: int) -> list[Any]:
    return [TemporaryFile() for _ in range(number)]


def _all_of(file: Any) -> bytes:
    """Return the whole content of a file that processes write to."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), size, 0)
