"""New numbers for the rows of an export, kept in a temporary table: memory does not grow with the documents."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.errors import TransferError

REFERRING: Final = {"source": "source_id", "document": "document_id"}
"""Tables whose numbers other tables refer to, with the column of these."""


class NewNumbers:
    """The numbers of this base for those of the exported one.

    Args:
        connection: in the transaction of the import, at whose end the numbers are forgotten.
        collection: the name of the imported collection.
        generation: the number of its new generation; None where it has none.
    """

    def __init__(self, connection: Connection, collection: str, generation: int | None) -> None:
        self.collection = collection
        self.generation = generation
        self._connection = connection
        connection.execute(queries["create_imported_numbers"])

    def draw(self, table: str, exported: Sequence[int]) -> list[int]:
        """Return new numbers for rows of a table, and remember for which exported ones they stand."""
        drawn = new_numbers(self._connection, table, len(exported))
        scope = {"column": REFERRING[table], "exported": list(exported), "numbers": drawn}
        self._connection.execute(queries["remember_numbers"], scope)
        return drawn

    def translate(self, column: str, exported: Sequence[int], path: Path) -> list[int]:
        """Return the new numbers of exported ones.

        Raises:
            TransferError: a number stands for no row of the export.
        """
        scope = {"column": column, "exported": list(exported)}
        found = [number for (number,) in self._connection.execute(queries["remembered_numbers"], scope)]
        for old, new in zip(exported, found, strict=True):
            if new is None:
                raise TransferError(f"{path} refers to the {column} {old}, which the export lacks: export again")
        return found


def new_numbers(connection: Connection, table: str, rows: int) -> list[int]:
    """Return numbers for new rows of a table, in order."""
    return [number for (number,) in connection.execute(queries["new_numbers"], {"table": table, "rows": rows})]
