"""A running `sourcebook up` and its processes."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil

from benchmarks.harness.kills.processes import family
from orchestration.supervisor import free_port
from sourcebook.processes import keeper

PROGRAMS = {"code server": "grpc", "web server": "dagster-webserver", "daemon": "dagster-daemon", "watch": "watch"}
"""An argument of each process's command line."""
_TICKS = """
query { sensorsOrError(repositorySelector: {repositoryName: "__repository__", repositoryLocationName: "sourcebook"}) {
  ... on Sensors { results { sensorState { ticks(limit: 1) { timestamp status } } } } } }
"""
_LAUNCH = """
mutation ($tags: [ExecutionTag!]) { launchRun(executionParams: {
  selector: {repositoryName: "__repository__", repositoryLocationName: "sourcebook", jobName: "ingest"},
  executionMetadata: {tags: $tags}}) { __typename ... on LaunchRunSuccess { run { runId } } } }
"""
_SECONDS_TO_ANSWER = 30.0


@dataclass(frozen=True)
class Up:
    """A running `sourcebook up`."""

    process: "subprocess.Popen[str]"
    port: int

    def program(self, name: str) -> psutil.Process:
        """Return the process that does the work: the innermost one of its command line that is no keeper."""
        found = [each for each in self._named(name) if not _is_keeper(each)]
        (innermost,) = [each for each in found if not set(each.children(recursive=True)) & set(found)]
        return innermost

    def keeper(self, name: str) -> psutil.Process:
        """Return the process that starts the program and ends with it."""
        (keeper,) = [each for each in self._named(name) if _is_keeper(each)]
        return keeper

    def has_another(self, name: str, former: psutil.Process) -> bool:
        """Return whether another process does the work."""
        try:
            return self.program(name) != former
        except (psutil.Error, ValueError):  # between two processes
            return False

    def services(self) -> list[psutil.Process]:
        """Return its processes but the database server, which other processes may use."""
        return [each for each in family(self.process.pid)[1:] if "postgres" not in each.name()]

    def run_workers(self) -> list[psutil.Process]:
        """Return the processes of runs: children of the code server that are not its own helpers."""
        with suppress(psutil.Error, ValueError):
            return [
                each
                for each in self.program("code server").children()
                if each.status() != psutil.STATUS_ZOMBIE and "spawn_main" in " ".join(each.cmdline())
            ]
        return []

    def ask(self, query: str, variables: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Ask the web server's GraphQL; empty while it does not answer."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql",
            json.dumps({"query": query, "variables": dict(variables or {})}).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS_TO_ANSWER) as answer:  # noqa: S310 - loopback
                found: dict[str, Any] = json.load(answer).get("data") or {}
                return found
        except OSError:
            return {}

    def launch(self, collection: str) -> bool:
        """Request a run of a collection, which the daemon takes from its queue; return whether it was taken."""
        answer = self.ask(_LAUNCH, {"tags": [{"key": "dagster/partition", "value": collection}]})
        return (answer.get("launchRun") or {}).get("__typename") == "LaunchRunSuccess"

    def sensors_work_since(self, moment: float) -> bool:
        """Return whether a sensor has been evaluated: by the daemon, in the code server, as the web server shows."""
        sensors = self.ask(_TICKS).get("sensorsOrError") or {}
        ticks = [tick for sensor in sensors.get("results", ()) for tick in sensor["sensorState"]["ticks"]]
        return any(tick["timestamp"] > moment and tick["status"] in {"SUCCESS", "SKIPPED"} for tick in ticks)

    def _named(self, name: str) -> list[psutil.Process]:
        return [
            each for each in family(self.process.pid)
            if PROGRAMS[name] in each.cmdline() and each.status() != psutil.STATUS_ZOMBIE
        ]  # fmt: skip


def _is_keeper(process: psutil.Process) -> bool:
    return keeper.__file__ in process.cmdline()


@contextmanager
def started_up(configuration: Path, environment: Mapping[str, str], errors: IO[str]) -> Iterator[Up]:
    """Start `sourcebook up`, which is not ready yet, and end it with its processes where it still runs."""
    port = free_port("127.0.0.1")
    program = Path(sys.executable).with_name("sourcebook")
    command = [str(program), "--config", str(configuration), "up", "--json", "--port", str(port), "--metrics-port", "0"]
    with subprocess.Popen(
        command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True
    ) as process:
        try:
            yield Up(process, port)
        finally:
            for each in family(process.pid) if process.poll() is None else []:
                with suppress(psutil.NoSuchProcess):
                    each.kill()


def wait_until_ready(up: Up) -> float:
    """Wait until `up` says that it is ready, and return the seconds that took.

    Raises:
        RuntimeError: it ended before.
    """
    begun = time.monotonic()
    if up.process.stdout is None or not up.process.stdout.readline():
        message = f"`sourcebook up` ended with {up.process.wait()}"
        raise RuntimeError(message)
    return time.monotonic() - begun
