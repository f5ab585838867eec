"""A PostgreSQL server as an administrator runs it: on a port, with settings, roles and rules of its own."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any, Self

import psycopg

from orchestration.supervisor import free_port
from sourcebook.database.embedded import programs_folder
from sourcebook.database.postmaster import running_postmaster
from sourcebook.database.server_account import ServerAccount

HOST = "127.0.0.1"
ADMINISTRATOR = "postgres"
POSTGRES_16 = programs_folder().with_name("pginstall")
"""Programs of PostgreSQL 16, which the wheel has beside those of 18."""


class OwnServer:
    """A server on a port of loopback, within `with`.

    Args:
        folder: its data folder, which must not exist; the folders above it let other users through.
        programs: folder with `bin/postgres`.
        settings: lines of `postgresql.conf`.
    """

    def __init__(
        self, folder: Path, programs: Path | None = None, settings: Mapping[str, object] | None = None
    ) -> None:
        self.folder = folder
        self.port = free_port(HOST)
        self._programs = programs or programs_folder()
        self._settings = {"fsync": "off", "listen_addresses": HOST, "unix_socket_directories": "", **(settings or {})}
        self._account = ServerAccount.find()

    def __enter__(self) -> Self:
        if not self.folder.exists():
            self.folder.mkdir(0o700)
            self._account.own(self.folder)
            words = ("-U", ADMINISTRATOR, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
            self._run("initdb", "-D", self.folder, *words)
        lines = "".join(f"{name} = '{value}'\n" for name, value in {**self._settings, "port": self.port}.items())
        with (self.folder / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(f"\n{lines}")
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop("fast")
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        self._run("pg_ctl", "start", "-w", "-D", self.folder, "-l", self.folder / "server.log")

    def stop(self, how: str) -> None:
        self._run("pg_ctl", "stop", "-w", "-m", how, "-D", self.folder)

    def promote(self) -> None:
        """Make a standby a server that writes."""
        self._run("pg_ctl", "promote", "-w", "-D", self.folder)

    def copy_to(self, folder: Path) -> None:
        """Copy the running server as a standby into a folder that does not exist, as `pg_basebackup` does."""
        folder.mkdir(0o700)
        self._account.own(folder)
        self._run("pg_basebackup", "-D", folder, "-R", "-c", "fast", "--no-sync", "-d", self.url("postgres"))

    @property
    def process(self) -> int:
        """Process id of the server."""
        found = running_postmaster(self.folder)
        assert found is not None
        return found.pid

    def url(self, database: str, user: str = ADMINISTRATOR) -> str:
        """Return the URL of a database, whose name is percent-encoded already."""
        return f"postgresql://{user}@{HOST}:{self.port}/{database}"

    def execute(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Execute statements as the administrator, and return the rows of the last one."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def _run(self, program: str, *arguments: str | Path) -> None:
        with TemporaryFile() as output:
            ended = self._account.start([str(self._programs / "bin" / program), *map(str, arguments)], output)
            code = ended.wait(120)
            output.seek(0)
            assert code == 0, f"{program}: {output.read().decode(errors='replace')[-800:]}"
