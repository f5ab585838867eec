"""Kills of `sourcebook ingest`, its process group, and its PostgreSQL."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

from benchmarks.harness.kills.home import NOTES, Home, elapsed
from benchmarks.harness.kills.outcome import Outcome
from benchmarks.harness.kills.processes import backends
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.postmaster import running_postmaster

_SECONDS_TO_END = 240.0
_SECONDS_TO_SETTLE = 240.0
"""The longest wait until the process that records runs, which gives way to all others, has had its turn."""
_CHANGED = 0.5
"""Part of the kills after which there is a new change to ingest."""
_KEPT_RUNNING = 0.5
"""Part of the kills during which another process uses the database, so that its server outlives the command."""


class CommandKills:
    """Kills during `sourcebook ingest`; the next `sourcebook ingest` mends what they leave.

    Args:
        home: the home, ingested before.
        heal_every: kills after which an ingest runs undisturbed, and the index is compared with the files.
    """

    def __init__(self, home: Home, *, heal_every: int = 1) -> None:
        self._home = home
        self._heal_every = heal_every
        self._data_folder = home.library.home / "postgres"
        self._seconds = 2.0
        """Seconds of the last ingest that no kill reached: the moments of the kills lie within them."""
        self.kinds: dict[str, Callable[[subprocess.Popen[str]], bool]] = {
            "main process": self._kill_main,
            "process group": self._kill_group,
            "backend": self._kill_backend,
            "postmaster": self._kill_postmaster,
        }

    def run(self, kinds: list[str]) -> Iterator[Outcome]:
        """Kill once for each of the kinds, and yield the outcomes."""
        for number, kind in enumerate(kinds, 1):
            yield self.kill(kind, heals=number % self._heal_every == 0 or number == len(kinds))

    def kill(self, kind: str, *, heals: bool) -> Outcome:
        """Change files, kill once during an ingest of them, and check; a kill that comes too late is repeated."""
        with ExitStack() as held:
            if self._home.chance.random() < _KEPT_RUNNING:
                held.callback(EmbeddedServer(self._data_folder).close)
            wrong: list[str] = []
            while not self._kill_once(kind, wrong):
                continue
            wrong += self._home.left_processes(with_database=False)
            wrong += self._home.torn()
            begun = time.monotonic()
            if heals:
                wrong += self.heal(changes=self._home.chance.random() < _CHANGED)
        return Outcome(kind, elapsed(begun), wrong)

    def heal(self, *, changes: bool) -> list[str]:
        """Ingest undisturbed, and return what is wrong then.

        Args:
            changes: whether there is a change to ingest, so that the runs of earlier ones are recorded with it.
        """
        if changes:
            self._home.folders[NOTES].change()
        begun = time.monotonic()
        with self._started() as process:
            _, errors = process.communicate(timeout=_SECONDS_TO_END)
        self._seconds = elapsed(begun)
        wrong = [] if process.returncode == 0 else [f"the next ingest ended with {process.returncode}: {errors}"]
        wrong += self._home.wait_until_settled(_SECONDS_TO_SETTLE, self._runs if changes else list)
        return wrong + self._home.held_locks()

    def _runs(self) -> list[str]:
        """Return the runs that the recorder of a command has not recorded, or has not found killed."""
        return self._home.unrecorded_runs() or self._home.unfinished_runs(of_daemon=False)

    def _kill_once(self, kind: str, wrong: list[str]) -> bool:
        self._home.folders[NOTES].change()
        moment = self._home.chance.uniform(0.05, self._seconds)
        begun = time.monotonic()
        with self._started() as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(moment)
                self._seconds = elapsed(begun)
            killed = process.poll() is None and self.kinds[kind](process)
            try:
                _, errors = process.communicate(timeout=_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
                wrong.append(f"the ingest goes on {_SECONDS_TO_END:.0f} s after the kill of its {kind}")
                return True
        if "Traceback" in errors:
            wrong.append(f"the command says: {errors[-500:]}")
        if process.returncode not in {0, 1, -signal.SIGKILL}:
            wrong.append(f"the command ended with {process.returncode}: {errors[-500:]}")
        return killed

    def _started(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self._home.library.ingest_command(),
            env=self._home.library.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _kill_main(self, process: "subprocess.Popen[str]") -> bool:
        process.kill()
        return True

    def _kill_group(self, process: "subprocess.Popen[str]") -> bool:
        os.killpg(process.pid, signal.SIGKILL)
        return True

    def _kill_backend(self, process: "subprocess.Popen[str]") -> bool:
        found = backends(self._data_folder)
        if found:
            self._home.chance.choice(found).kill()
        return bool(found)

    def _kill_postmaster(self, process: "subprocess.Popen[str]") -> bool:
        found = running_postmaster(self._data_folder)
        if found is None:
            return False
        with suppress(ProcessLookupError):
            os.kill(found.pid, signal.SIGKILL)
            return True
        return False
