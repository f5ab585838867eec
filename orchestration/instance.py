"""The Dagster instance: its storage in the server of the knowledge base, its settings from one file."""

import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from sourcebook.config.paths import make_private_folder, make_state_folder
from sourcebook.database.database import Database
from sourcebook.database.queries import queries

if TYPE_CHECKING:
    import dagster as dg

SETTINGS = Path(__file__).with_name("dagster.yaml")
_STORAGE_LOCK = 0x50_0B00D
"""Key of the advisory lock for creating Dagster's tables."""
_IN_PROCESS = "in_process.yaml"
"""Name of the settings for runs in the process of a command."""
_TO_TERMINAL = """
compute_logs: # the output of a run in the process of a command goes to the terminal
  module: dagster._core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
"""
"""The class has no public name, and Dagster's documentation gives this one. Those with a public name capture."""
_STORAGE_MESSAGE = "Exception while writing logger call to event log"
"""Beginning of the message that Dagster writes on stderr itself where its storage fails."""
_RETRY_MESSAGE = "Retrying failed database"
"""Beginning of the warnings of dagster-postgres that it tries again, with SQLAlchemy's words."""
STORAGE_VARIABLE = "SOURCEBOOK_DAGSTER_DATABASE_URL"


def prepare_dagster_home(home: Path, database: Database) -> Path:
    """Create DAGSTER_HOME in the state folder and set it for this process and its children.

    A DAGSTER_HOME in the environment is used unchanged.
    """
    os.environ.setdefault(STORAGE_VARIABLE, database.dagster_url())
    own = os.environ.get("DAGSTER_HOME")
    if own:
        return Path(own)
    folder = _own_folder(home)
    _write(folder / "dagster.yaml", SETTINGS.read_text(encoding="utf-8"))
    os.environ["DAGSTER_HOME"] = str(folder)
    return folder


@contextmanager
def without_storage_errors() -> Iterator[None]:
    """Keep Dagster's messages about its storage from the terminal: the error that ends the run says the same."""
    with redirect_stderr(cast("TextIO", _WithoutStorageErrors(sys.stderr))):
        yield


class _WithoutStorageErrors:
    """A stream that drops Dagster's messages about its event log, which hold SQL and SQLAlchemy's words."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, unless it is such a message."""
        return len(text) if text.startswith(_STORAGE_MESSAGE) else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def open_instance(home: Path, database: Database) -> "dg.DagsterInstance":
    """Open the Dagster instance for a run in this process."""
    import dagster as dg

    logging.getLogger().addFilter(_says_more)
    settings = prepare_dagster_home(home, database) / "dagster.yaml"
    folder = _own_folder(home)
    _write(folder / _IN_PROCESS, _without_compute_logs(settings) + _TO_TERMINAL)
    with database.own_connection() as connection:
        # Opening the instance creates Dagster's tables where they are missing; two processes at once would collide.
        connection.execute(queries["lock_dagster_storage"], {"lock": _STORAGE_LOCK})
        instance = dg.DagsterInstance.from_config(str(folder), _IN_PROCESS)
    # Without a pool each of the 200 statements of a run opens a connection, which takes half of a short run's time.
    instance.optimize_for_webserver(statement_timeout=600_000, pool_recycle=3600, max_overflow=20)
    return instance


def _says_more(record: logging.LogRecord) -> bool:
    """Whether a log line is none of dagster-postgres' retries: the error that they end with says the same."""
    return not str(record.msg).startswith(_RETRY_MESSAGE)


def _own_folder(home: Path) -> Path:
    folder = home.absolute() / "dagster"
    make_state_folder(home.absolute())
    make_private_folder(folder)
    return folder


def _without_compute_logs(settings: Path) -> str:
    """Return the text of a dagster.yaml without its top-level key `compute_logs`."""
    if not settings.exists():
        return ""
    text = settings.read_text(encoding="utf-8")
    return re.sub(r"^compute_logs:.*\n(?:(?:[ \t].*)?\n)*", "", text, flags=re.MULTILINE)


def _write(file: Path, text: str) -> None:
    """Write a file whose text differs, through a temporary one: another process may be reading it."""
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(file)
