"""Sites that are crawled at the next ingest although they are not due yet."""

from psycopg import Connection

from sourcebook.database.queries import queries


def make_due(connection: Connection, collection: str, location: str) -> None:
    """Let the next ingest crawl a site of a collection, whenever it was crawled last."""
    connection.execute(queries["request_crawl"], {"collection": collection, "location": location})
