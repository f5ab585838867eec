"""What was said in a document's recording, as the ledger keeps it."""

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.database.queries import queries
from sourcebook.model.transcript import Segment


def transcript_of(connection: Connection, document_id: int) -> tuple[Segment, ...] | None:
    """Return the segments that a document was made of, none where nobody speaks.

    None where the document is no recording, or its recording was transcribed anew since the document was made.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        transcript = cursor.execute(queries["transcript_of_document"], {"document_id": document_id}).fetchone()
    if transcript is None:
        return None
    windows = connection.execute(queries["transcript_segments"], transcript)
    return tuple(Segment(*row) for (rows,) in windows for row in rows)
