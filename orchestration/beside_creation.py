"""Loading what the first run needs while the embedded server makes its data folder, which mostly waits for the disk."""

from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.cli.context import CommandContext
    from sourcebook.database.database import Database


def open_or_create_database(context: "CommandContext") -> "Database":
    """Open the database of an ingest. Where it does not exist yet, import Dagster meanwhile: everything is new to it.

    The import ends before this returns, so that no two threads import modules that need each other.
    """
    if not context.is_empty():
        return context.open_database()
    loading = Thread(target=_load, daemon=True)
    loading.start()
    try:
        return context.open_database()
    finally:
        loading.join()


def _load() -> None:
    with suppress(Exception):  # the run imports it again, and reports what fails
        import dagster_postgres  # noqa: F401 - Dagster's settings name it

        import orchestration.run  # noqa: F401
