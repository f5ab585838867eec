"""Start services, and end them with everything it started."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from benchmarks.harness.kills.processes import family


def free_port() -> int:
    """Return a port of the loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def service(command: list[str], *, cwd: Path, environment: Mapping[str, str], log: Path) -> Iterator[int]:
    """Run a service in a session of its own; lend its process id; assert that nothing of it outlives it."""
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process.pid
            assert process.poll() is None, f"{command[:4]} ended by itself:\n{log.read_text()[-3000:]}"
        finally:
            started = family(process.pid)
            process.send_signal(signal.SIGTERM)
            _, alive = psutil.wait_procs(started, timeout=60)
            for survivor in alive:
                with suppress(psutil.NoSuchProcess):
                    survivor.kill()
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        assert not alive, f"{alive} outlived {command[:4]}"
