"""Kills of `sourcebook up` and of its processes, while changes arrive and a run of its daemon goes on."""

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import psutil

from benchmarks.harness.kills.home import NOTES, REPORTS, Home, elapsed
from benchmarks.harness.kills.outcome import Outcome
from benchmarks.harness.kills.processes import backends, wait
from benchmarks.harness.kills.up import Up, started_up, wait_until_ready
from orchestration.supervisor import listens
from sourcebook.database.postmaster import running_postmaster

_SECONDS_TO_SETTLE = 240.0
"""Seconds within which `up` mends everything: a sensor waits for two equal readings, and for Dagster's retry."""
_SECONDS_TO_REPLACE = 180.0
_SECONDS_FOR_A_RUN = 180.0
_SECONDS_TO_STOP = 120.0
_SERVICES = {"daemon": "daemon", "code server": "code server", "gRPC child": "code server", "web server": "web server"}
"""Names of the services in the messages of `up` by the kind of the kill."""
_SHORTER_WAIT = 2.0
_LONGEST_WAIT = 4.0
"""Seconds after a change of the files within which the kill comes."""


class ServiceKills:
    """Kills during `sourcebook up`, which mends what they leave by itself.

    Args:
        home: the home, ingested before.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._data_folder = home.library.home / "postgres"
        self.kinds: dict[str, Callable[[Up], Callable[[], bool] | None]] = {
            "run worker": self._kill_run_worker,
            "daemon": partial(self._kill_program, "daemon"),
            "code server": self._kill_code_server,
            "gRPC child": partial(self._kill_program, "code server"),
            "web server": partial(self._kill_program, "web server"),
            "backend": self._kill_backend,
            "postmaster": self._kill_postmaster,
        }
        """Kinds by name: a function kills, and returns whether the victim is replaced; None without a victim."""

    def run(self, kinds: list[str], *, settles: bool = True, together: bool = False) -> Iterator[Outcome]:
        """Start `up`, kill once for each of the kinds, and at last kill `up` itself.

        Args:
            kinds: kinds of this class.
            settles: whether to wait until the index equals the files before `up` is killed.
            together: whether a kill comes before the victims of earlier ones are replaced.
        """
        library = self._home.library
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
            started_up(library.configuration_path, library.environment, errors) as up,
        ):
            wait_until_ready(up)
            yield from self._kill_together(up, kinds) if together else self._kill_in_turn(up, kinds)
            if settles:
                yield self._settle(up)
            self._disturb(up)
            yield self._kill_up(up)
            errors.seek(0)
            yield Outcome(SETTLING, 0.0, list(_wrong_messages(errors.read(), kinds)))

    def finish(self) -> Outcome:
        """Start `up` once more, change files, wait until everything is right, and stop it with SIGTERM."""
        library = self._home.library
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
            started_up(library.configuration_path, library.environment, errors) as up,
        ):
            wait_until_ready(up)
            self._change()  # a run for the changes of killed ones would wait for its turn
            settled = self._settle(up)
            up.process.send_signal(signal.SIGTERM)
            code = up.process.wait(_SECONDS_TO_STOP)
            if code:
                errors.seek(0)
                settled.wrong.append(f"`up` ended with {code}: {errors.read()[-2000:]}")
        settled.wrong.extend(self._home.left_processes(with_database=False))
        return settled

    def _kill_in_turn(self, up: Up, kinds: list[str]) -> Iterator[Outcome]:
        for kind in kinds:
            self._disturb(up)
            yield self._wait_for_another(kind, *self._kill(up, kind))

    def _kill_together(self, up: Up, kinds: list[str]) -> Iterator[Outcome]:
        self._disturb(up)
        in_order = sorted(kinds, key=lambda kind: kind != "run worker")  # the others end it, or need its processes
        killed = [(kind, *self._kill(up, kind)) for kind in in_order]
        for each in killed:
            yield self._wait_for_another(*each)

    def _kill(self, up: Up, kind: str) -> tuple[float, Callable[[], bool] | None]:
        """Kill at a random moment; return that moment, and whether the victim is replaced."""
        if kind == "run worker":
            self._await_run(up)
        time.sleep(self._home.chance.uniform(0, _LONGEST_WAIT if kind != "run worker" else _SHORTER_WAIT))
        is_replaced: list[Callable[[], bool] | None] = []

        def kills() -> bool:
            is_replaced[:] = [self.kinds[kind](up)]
            return is_replaced[0] is not None

        wait(kills, _SECONDS_TO_REPLACE)  # an earlier kill may have left none
        return time.monotonic(), is_replaced[0]

    def _await_run(self, up: Up) -> None:
        """Wait for the process of a run, and request another run where one has ended meanwhile."""
        begun = time.monotonic()
        while elapsed(begun) < _SECONDS_FOR_A_RUN and not wait(lambda: bool(up.run_workers()), 10.0):
            up.launch(REPORTS)

    def _wait_for_another(self, kind: str, moment: float, is_replaced: Callable[[], bool] | None) -> Outcome:
        if is_replaced is None:
            return Outcome(kind, 0.0, [f"there is no {kind} to kill"])
        wrong = [] if wait(is_replaced, _SECONDS_TO_REPLACE) else [f"there is no other {kind}"]
        return Outcome(kind, elapsed(moment), wrong)

    def _disturb(self, up: Up) -> None:
        """Change files, and request a run where none goes on."""
        self._change()
        if not up.run_workers():
            up.launch(REPORTS)

    def _change(self) -> None:
        """Change some notes for the watch and all reports for a run of the daemon."""
        self._home.folders[NOTES].change()
        self._home.folders[REPORTS].change_all()

    def _settle(self, up: Up) -> Outcome:
        begun = time.monotonic()
        wrong = self._home.wait_until_settled(_SECONDS_TO_SETTLE, partial(self._home.unfinished_runs, of_daemon=True))
        seconds = elapsed(begun)
        if up.process.poll() is not None:
            wrong.append(f"`up` ended with {up.process.returncode}")
        moment = time.time()
        if not wait(lambda: up.sensors_work_since(moment), _SECONDS_TO_REPLACE):
            wrong.append("no sensor is evaluated any more")
        return Outcome(SETTLING, seconds, wrong)

    def _kill_up(self, up: Up) -> Outcome:
        time.sleep(self._home.chance.uniform(0, _LONGEST_WAIT))
        begun = time.monotonic()
        up.process.kill()
        up.process.wait()
        wrong = self._home.left_processes(with_database=False)
        if listens("127.0.0.1", up.port):
            wrong.append(f"something listens on port {up.port}")
        return Outcome(UP, elapsed(begun), wrong + self._home.torn() + self._home.held_locks())

    def _kill_run_worker(self, up: Up) -> Callable[[], bool] | None:
        found = up.run_workers()
        if not found:
            return None
        for worker in found:
            worker.kill()
        return lambda: True  # the daemon or a sensor starts another run by and by

    def _kill_program(self, name: str, up: Up) -> Callable[[], bool] | None:
        with suppress(psutil.Error, ValueError):
            former = up.program(name)
            former.kill()
            return lambda: up.has_another(name, former)
        return None

    def _kill_code_server(self, up: Up) -> Callable[[], bool] | None:
        """Kill the process that keeps the code server, which ends with it."""
        with suppress(psutil.Error, ValueError):
            former = up.program("code server")
            up.keeper("code server").kill()
            return lambda: up.has_another("code server", former)
        return None

    def _kill_backend(self, up: Up) -> Callable[[], bool] | None:
        found = backends(self._data_folder)
        if not found:
            return None
        with suppress(psutil.NoSuchProcess):
            self._home.chance.choice(found).kill()
        return lambda: running_postmaster(self._data_folder) is not None

    def _kill_postmaster(self, up: Up) -> Callable[[], bool] | None:
        former = running_postmaster(self._data_folder)
        if former is None:
            return None
        with suppress(ProcessLookupError):
            os.kill(former.pid, signal.SIGKILL)

        def is_replaced() -> bool:
            found = running_postmaster(self._data_folder)
            return found is not None and found.pid != former.pid and found.is_ready

        return is_replaced


def _wrong_messages(said: str, kinds: list[str]) -> Iterator[str]:
    """Yield what is wrong in the messages of `up`: a traceback, or a victim that is not named."""
    if "Traceback" in said:
        yield f"`up` says: {said[-2000:]}"
    for kind in kinds:
        name = _SERVICES.get(kind)
        if name is not None and f"the {name} was ended by SIGKILL; it starts again in" not in said:
            yield f"`up` does not name the {name}: {said[-2000:]}"


UP = "up"
"""Kind of a kill of `up` itself."""
SETTLING = "settling"
"""Name of the outcome that is no kill: everything is right again."""
