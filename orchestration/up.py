"""`sourcebook up`: embedded database, code server, web server, daemon and watch, started and stopped together."""

import gc
import logging
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import FrameType
from typing import Final

import psutil

from orchestration.clock_watch import ClockWatch
from orchestration.database_watch import DatabaseWatch
from orchestration.instance import open_instance, prepare_dagster_home
from orchestration.supervisor import MOST_LOG_BYTES, Service, ServiceError, Supervisor, free_port, listens
from orchestration.up_record import MARK, UpRecord
from sourcebook.cli.logs import FORMAT_VARIABLE, LEVEL_VARIABLE
from sourcebook.config.loading import sourcebook_home
from sourcebook.database.database import Database
from sourcebook.metrics.server import DEFAULT_PORT, MetricsServer, MetricsServerError

CODE_LOCATION = Path(__file__).resolve().parents[1]
"""Folder of `orchestration`, `assets`, `sensors` and `resources`: a checkout's, or one in the installed library."""
_HOST = "127.0.0.1"
_WORKSPACE = """\
load_from:
  - grpc_server:
      host: {host}
      port: {port}
      location_name: sourcebook
"""
_CHECK_SECONDS: Final = 0.5
"""Seconds between two looks at the services."""
_STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that stop it in order: Ctrl-C, a service manager's, and that of a terminal that is closed."""
_log = logging.getLogger(__name__)


def up(
    path: Path,
    database: Database,
    *,
    port: int,
    metrics_port: int | None = None,
    ready: Callable[[str, str | None], None],
    host: str = _HOST,
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP, or until a process ends again and again; leave no process behind.

    Args:
        path: the configuration to serve.
        database: an open database, closed by the caller.
        port: the port of the web server.
        metrics_port: the port of the metrics; 0 for none, None for the usual one where it is free.
        ready: called once with the URLs of the web page and of the metrics, None without metrics.
        host: the address on which the web server listens.

    Raises:
        AlreadyUpError: another `sourcebook up` of the state folder is running.
        MetricsServerError: the chosen port of the metrics is taken.
        ServiceError: the port is taken, or a process does not start or ends again and again.
    """
    home = sourcebook_home(path).absolute()
    with _stopping_on_signals() as stopped, ExitStack() as running:
        record = running.enter_context(UpRecord(home / "dagster" / "up.json"))
        running.enter_context(_logging_to(home / "dagster" / "up.log"))
        record.claim(port=port, tell=_log.warning)
        if listens(host, port):
            raise ServiceError(_port_is_taken(port))
        folder = prepare_dagster_home(home, database)
        open_instance(home, database).dispose()  # creates Dagster's tables before two processes try to
        metrics = _serve_metrics(running, database, host, metrics_port)  # before the services: its port may be taken
        gc.freeze()
        gc.enable()
        supervisor = running.enter_context(
            Supervisor(
                folder,
                CODE_LOCATION,
                {
                    LEVEL_VARIABLE: "info",
                    **os.environ,
                    "SOURCEBOOK_CONFIG": str(path),
                    "SOURCEBOOK_HOME": str(home),
                    "PYTHONUNBUFFERED": "1",
                    MARK: record.mark,
                },
                stopped,
                record.record,
            )
        )
        database_watch = DatabaseWatch(database)
        clock_watch = ClockWatch(database, lambda: supervisor.restart("daemon"))
        clock_watch.check()
        for service in services_of(folder / "workspace.yaml", host, port):
            supervisor.start(service)
        if not stopped():
            ready(f"http://{host}:{port}", metrics)
        while not stopped():
            database_watch.check()
            clock_watch.check()
            supervisor.check()
            time.sleep(_CHECK_SECONDS)


def _serve_metrics(running: ExitStack, database: Database, host: str, port: int | None) -> str | None:
    """Serve the metrics in this process until `running` ends, and return their URL; None where none are served."""
    if port == 0:
        return None
    try:
        server = MetricsServer(
            database.url, database.dagster_url(), port=DEFAULT_PORT if port is None else port, host=host
        )
    except MetricsServerError as error:
        if port is not None:
            raise
        _log.warning("%s", error)
        return None
    return f"http://{host}:{running.enter_context(server).port}/metrics"


def services_of(workspace: Path, host: str, port: int) -> tuple[Service, ...]:
    """Return Dagster's processes and the watch, in the order of their start.

    Args:
        workspace: path of the workspace file, which is written.
        host: address on which the web server listens.
        port: port of the web server.
    """
    code_port = _code_port(workspace)
    workspace.write_text(_WORKSPACE.format(host=_HOST, port=code_port), encoding="utf-8")
    dagster = (sys.executable, "-m", "orchestration.dagster_process")
    logs = ("--log-format", "json") if os.environ.get(FORMAT_VARIABLE) == "json" else ()
    return (
        Service(
            "code server",
            # Not `dagster code-server start`: that is a proxy, which goes on when the process behind it has ended.
            (*dagster, "dagster", "api", "grpc", "-h", _HOST, "-p", str(code_port),
             "--use-python-environment-entry-point",
             "-m", "orchestration.definitions", "--location-name", "sourcebook", "-d", str(CODE_LOCATION), *logs),
            lambda: listens(_HOST, code_port),
        ),
        Service(
            "web server",
            (*dagster, "dagster-webserver", "-h", host, "-p", str(port), "-w", str(workspace), *logs),
            lambda: listens(host, port),
        ),
        Service("daemon", (*dagster, "dagster-daemon", "run", "-w", str(workspace), *logs)),
        Service("watch", (sys.executable, "-c", "from sourcebook.command import main; main()", "watch")),
    )  # fmt: skip


def _code_port(workspace: Path) -> int:
    """Return the port of the code server: that of the last start where it is free.

    Dagster's page finds the ticks of a sensor by the address of its code server, and shows none after a change of it.
    """
    with suppress(OSError, ValueError, OverflowError):
        (port,) = re.findall(r"^ +port: (\d+)$", workspace.read_text(encoding="utf-8"), re.MULTILINE)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections of the last one may linger
            probe.bind((_HOST, int(port)))
            return int(port)
    return free_port(_HOST)


@contextmanager
def _stopping_on_signals() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether a signal to stop has arrived, so that processes are stopped in order."""
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    # `nohup` ignores SIGHUP: the command is to outlive its terminal.
    before = {number: signal.signal(number, note) for number in _STOPPING if signal.getsignal(number) != signal.SIG_IGN}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _logging_to(path: Path) -> Iterator[None]:
    """Have the messages of this package go to a file, with their times, and to stderr."""
    logger = logging.getLogger("orchestration")
    file, terminal = RotatingFileHandler(path, maxBytes=MOST_LOG_BYTES, backupCount=1, encoding="utf-8"), _Terminal()
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for handler in (file, terminal):
        logger.addHandler(handler)
    try:
        yield
    finally:
        for handler in (file, terminal):
            logger.removeHandler(handler)
            handler.close()


class _Terminal(logging.Handler):
    """Messages on stderr, as the command's other sentences; a terminal that is gone loses them."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):
            sys.stderr.write(f"sourcebook: {record.getMessage()}\n")
            sys.stderr.flush()


def _port_is_taken(port: int) -> str:
    """Return the sentence about a port that something else listens on, with its name where the system tells it."""
    name = ""
    with suppress(psutil.Error):
        listening = {
            each.pid
            for each in psutil.net_connections("tcp")
            if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port and each.pid is not None
        }
        name = "".join(f" ({psutil.Process(pid).name()}, process {pid})" for pid in sorted(listening)[:1])
    return f"port {port} is taken by another program{name}: stop that program, or choose another port with --port"
