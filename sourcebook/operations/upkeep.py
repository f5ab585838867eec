"""Upkeep of a knowledge base by those who have its machine: generations, deletion, and its health."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.admin.health import Finding, Thresholds
    from sourcebook.contract.documents import Purged
    from sourcebook.contract.generations import GenerationState
    from sourcebook.operations.opened import Opened


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
