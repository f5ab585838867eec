"""Work that is open, in groups: requests that wait for the same, or that one run does."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.contract.work import WorkRequest
from sourcebook.database.queries import queries

_FIELDS = [each.name for each in fields(WorkRequest) if each.name != "unread"]


@dataclass(frozen=True, slots=True)
class WorkGroup:
    """Requests that differ in their documents alone; one that has ended stands for itself."""

    work: WorkRequest
    """The oldest of them; of running ones that whose run does the others, too."""
    requests: int = 1
    documents: int = 0
    """Number of the documents that they name."""


def open_work_groups(connection: Connection, collections: Sequence[str] | None = None) -> list[WorkGroup]:
    """Return the open requests of collections, of all of them where None, in groups: the running ones first."""
    values = {"collections": None if collections is None else list(collections)}
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["open_work_groups"], values).fetchall()
    found = [
        WorkGroup(WorkRequest(**{name: row[name] for name in _FIELDS}), row["requests"], row["documents"])
        for row in rows
    ]
    return sorted(found, key=lambda group: (group.work.state, group.work.id))
