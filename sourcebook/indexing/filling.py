"""Which collections are being filled, and how far they are."""

from collections.abc import Sequence

from psycopg import Connection

from sourcebook.contract.filling import Filling
from sourcebook.database.queries import queries


def find_filling(connection: Connection, names: Sequence[str] = ()) -> dict[str, Filling]:
    """Return the collections that are being filled, of some or of all, by their names."""
    rows = connection.execute(queries["filling"], {"names": list(names)})
    return {row[0]: Filling(*row) for row in rows}
