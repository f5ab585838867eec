"""The audit: what was changed through a key, the command or a page, by whom and when."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from sourcebook.database.queries import queries
from sourcebook.model.acting import account as account
from sourcebook.model.plain_values import PlainValues


@dataclass(frozen=True, slots=True)
class AuditEvent(PlainValues):
    """One thing that was done."""

    id: int
    happened_at: datetime
    actor: str
    """`key NAME`, or the account of the operating system."""
    action: str
    """Such as `key.create`."""
    subject: str
    """Name of what it was done to."""
    details: dict[str, Any]


def record_event(
    connection: Connection, actor: str, action: str, subject: str, details: Mapping[str, Any] | None = None
) -> None:
    """Record what was done; in the transaction that does it, so that neither is there without the other."""
    connection.execute(
        queries["record_audit_event"],
        {"actor": actor, "action": action, "subject": subject, "details": Jsonb(dict(details or {}))},
    )


def audit_events(connection: Connection, limit: int = 100, *, before: int | None = None) -> list[AuditEvent]:
    """Return what was done, the newest first."""
    with connection.cursor(row_factory=class_row(AuditEvent)) as cursor:
        return cursor.execute(queries["audit_events"], {"limit": limit, "before": before}).fetchall()
