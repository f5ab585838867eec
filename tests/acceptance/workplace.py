"""A folder with a configuration, documents and a state folder, driven through the `sourcebook` command."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

from psycopg.rows import dict_row
from typer.testing import CliRunner

from sourcebook.admin.finished_runs import recorder_lock
from sourcebook.command.app import app
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.files.listing import file_uri
from tests.exported import copy_database, link_model

COMMAND = str(Path(sys.executable).with_name("sourcebook"))
SECONDS = 240.0
"""How long one command may take on a busy machine."""
LOOKING = ("documents", "generations", "plan", "search", "show", "status")
"""Commands that only look: a process of their own would spend most of its time on imports."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Workplace:
    """Where one knowledge base is made."""

    folder: Path
    home: Path
    database_url: str | None = None
    command: str = COMMAND
    """Path of the `sourcebook` command."""

    @property
    def configuration(self) -> Path:
        return self.folder / "sourcebook.yaml"

    @property
    def docs(self) -> Path:
        return self.folder / "docs"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a newcomer: nothing is set but where the state lies."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SOURCEBOOK", "DAGSTER"))}
        urls = {"SOURCEBOOK_DATABASE_URL": self.database_url} if self.database_url else {}
        return {**clean, "HF_HUB_OFFLINE": "1", "SOURCEBOOK_HOME": str(self.home), **urls}

    def configure(self, **collections: str) -> None:
        """Write a `sourcebook.yaml`; each collection with the folder it draws from."""
        lines = [f"  {name}:\n    files:\n      - root: ./{root}\n" for name, root in collections.items()]
        self.configuration.write_text("collections:\n" + "".join(lines))
        for root in collections.values():
            (self.folder / root).mkdir(exist_ok=True)

    def take_model(self, exported: Path) -> None:
        """Begin with the export of a model that another state folder holds, as after a first ingest."""
        link_model(exported, self.home)

    def begin_prepared(self, exported: Path) -> None:
        """Begin with that model, and with a database in which all tables are made and none has a row."""
        self.take_model(exported)
        copy_database(exported, self.home)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def uri(self, name: str) -> str:
        return file_uri(str(self.folder / name))

    def start(self, *arguments: str, errors_to: Path | None = None) -> "subprocess.Popen[str]":
        """Start the command and return at once; its errors go to a pipe, or to a file."""
        with errors_to.open("wb") if errors_to else nullcontext(subprocess.PIPE) as errors:
            return self._start(arguments, errors)

    def _start(self, arguments: tuple[str, ...], errors: IO[bytes] | int) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [self.command, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run the command, assert its exit code, and return what it printed.

        Those of `LOOKING` run in this process; `tests/integration/cli` has them as processes of their own.
        """
        if arguments[0] in LOOKING and self.command == COMMAND:
            returned, out, err = self.run_here(*arguments)
        else:
            with self.start(*arguments) as process:
                out, err = process.communicate(timeout=SECONDS)
            returned = process.returncode
        assert returned == code, f"exit code {returned}\n{out}\n{err}"
        return out if code in {0, 3} else err

    def run_here(self, *arguments: str) -> tuple[int, str, str]:
        """Run the command in this process; return its exit code, and what it printed to stdout and to stderr."""
        with chdir(self.folder), patch.dict(os.environ, self.environment, clear=True):
            ran = CliRunner().invoke(app, list(arguments))
        return ran.exit_code, ran.stdout, ran.stderr

    def json(self, command: str, *arguments: str, code: int = 0) -> Json:
        """Run the command with --json and return what it says."""
        told: Json = json.loads(self.run(command, "--json", *arguments, code=code))
        return told

    def ingest(self, *arguments: str, code: int = 0) -> Json:
        """Run `ingest` and return its collections."""
        collections: Json = self.json("ingest", *arguments, code=code)["collections"]
        return collections

    @contextmanager
    def database(self) -> Iterator[Database]:
        """Open the knowledge base in this process."""
        with Database(DatabaseLocation(self.home, self.database_url)) as database:
            yield database

    @contextmanager
    def unrecorded(self) -> Iterator[Database]:
        """Open the knowledge base, and have nothing record the runs of small changes meanwhile.

        Recording takes more processor time than such an ingest; `test_small_change.py` is about it. Nothing has been
        ingested before.
        """
        with self.database() as database, recorder_lock(database) as is_free:
            assert is_free
            yield database


@contextmanager
def temporary_workplace() -> Iterator[Workplace]:
    """An empty folder, which goes at the end."""
    # Not one of pytest's own folders: another user, whom root's PostgreSQL runs as, must be able to enter it.
    folder = Path(tempfile.mkdtemp(prefix="sourcebook-test-")).resolve()
    folder.chmod(0o755)
    yield Workplace(folder, folder / "state")
    shutil.rmtree(folder, ignore_errors=True)


def rows(database: Database, statement: str, **parameters: Any) -> list[Json]:
    """Return the rows of a statement."""
    with database.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement.encode(), parameters).fetchall()
