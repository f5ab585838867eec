"""Where the files of a folder are shown on the web: in the web view of the remote of its Git checkout."""

from dataclasses import asdict
from pathlib import Path

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.database.queries import queries
from sourcebook.files.listing import file_uri
from sourcebook.files.source import Source
from sourcebook.git.checkout import web_view


def record_web_view(connection: Connection, source: Source) -> None:
    """Record the web view of a source's folder where it has changed; links of the next results are of it."""
    found = web_view(Path(source.location)) if source.is_local else None
    view = None if found is None else Jsonb({**asdict(found), "root": file_uri(str(found.root))})
    connection.execute(queries["record_web_view"], {"source_id": source.id, "view": view})
