"""Upkeep by those who have the machine: settings of the file, generations, export, deletion, and health."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.admin.collections import Applied
    from sourcebook.admin.health import Finding, Thresholds
    from sourcebook.config.loading import Configuration
    from sourcebook.contract.documents import Purged
    from sourcebook.contract.generations import GenerationState
    from sourcebook.operations.opened import Opened
    from sourcebook.transfer.export import Exported


def apply(knowledge: Opened, configuration: Configuration, *, dry_run: bool = False) -> Applied:
    """Record the collections and sources of a configuration, or say only what that would change."""
    from sourcebook.admin.collections import apply

    with knowledge.database.connection() as connection, connection.transaction(force_rollback=dry_run):
        return apply(connection, configuration)


def export(
    knowledge: Opened,
    folder: str,
    collections: Sequence[str] = (),
    formats: Sequence[str] = (),
    *,
    progress: Callable[[str, int, int], None] = lambda collection, done, total: None,
    unredacted: bool = False,
) -> Exported:
    """Write collections as files, every one where none is named; see `transfer.export`.

    Raises:
        QueryError: a collection does not exist.
        TransferError: it cannot be written, or may not.
    """
    from sourcebook.admin.collections import check_collections, collection_names
    from sourcebook.transfer.export import DEFAULT_FORMATS, export_collections

    with knowledge.database.connection() as connection:
        check_collections(connection, collections)
        names = collections or collection_names(connection)
    return export_collections(
        knowledge.database, folder, names, formats or DEFAULT_FORMATS, progress=progress, unredacted=unredacted
    )


def activate_generation(knowledge: Opened, number: int) -> GenerationState:
    """Make a generation the active one of its collection; see `indexing.generation_states`."""
    from sourcebook.indexing.generation_states import activate_generation

    return activate_generation(knowledge.database, number)


def retire_generation(
    knowledge: Opened, number: int, *, waiting: Callable[[str], None] = lambda reason: None
) -> GenerationState:
    """Delete a generation that is neither active nor being built; see `indexing.generation_states`."""
    from sourcebook.indexing.generation_states import retire_generation

    return retire_generation(knowledge.database, number, waiting=waiting)


def purgeable(knowledge: Opened, older_than: timedelta | None = None) -> Purged:
    """Count what `purge` would delete."""
    from sourcebook.admin.removal import purgeable

    with knowledge.database.connection() as connection:
        return purgeable(connection, older_than)


def purge(
    knowledge: Opened, older_than: timedelta | None = None, *, waiting: Callable[[str], None] = lambda collection: None
) -> Purged:
    """Delete removed rows and everything that only they need; see `admin.removal`."""
    from sourcebook.admin.removal import purge

    return purge(knowledge.database, older_than=older_than, waiting=waiting)


def health_findings(knowledge: Opened, thresholds: Thresholds) -> list[Finding]:
    """Return what a monitor should tell a person: of the daemon and its sensors, of waiting changes, of failed items.

    Raises:
        DatabaseError: the knowledge base or the storage of Dagster is out of reach.
    """
    import psycopg

    from sourcebook.admin.dagster_state import read_dagster_state
    from sourcebook.admin.health import daemon_findings, ledger_findings
    from sourcebook.database.connecting import open_connection
    from sourcebook.database.failures import failures_of_dagster, typed_errors

    database = knowledge.database
    with (
        failures_of_dagster() if database.location.dagster_url is not None else nullcontext(),
        open_connection(psycopg.Connection, database.dagster_url()) as storage,
        typed_errors(),
    ):
        found = [*daemon_findings(read_dagster_state(storage), thresholds)]
    with database.connection() as connection:
        return [*found, *ledger_findings(connection, thresholds)]
