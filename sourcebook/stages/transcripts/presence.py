"""Whether a collection has anything to transcribe; most have not, and need nothing else of this stage."""

from psycopg import Connection

from sourcebook.database.queries import queries


def has_recordings(connection: Connection, collection: str) -> bool:
    """Whether a collection holds any file of sound or video."""
    return connection.execute(queries["has_recordings"], {"collection": collection}).fetchone() == (True,)
