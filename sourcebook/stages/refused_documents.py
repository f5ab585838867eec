"""Documents whose passages the database refuses: each fails alone, and is tried again when it changes."""

from collections.abc import Sequence

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.database.refusals import Refusal
from sourcebook.errors import FailureClass
from sourcebook.model.generation import Generation
from sourcebook.model.report import StageReport


def record_refused(
    connection: Connection, generation: Generation, refused: Sequence[tuple[int, Refusal]], report: StageReport
) -> None:
    """Record why prepared documents cannot be stored, embedded or published; what is published of them stays.

    Args:
        connection: to the knowledge base.
        generation: the generation that the documents were prepared for.
        refused: ids of documents, each with the reason; the first reason of a document counts.
        report: receives the failures.
    """
    if not refused:
        return
    reasons = dict(reversed(refused))
    rows = connection.execute(
        queries["record_refused_passages"],
        {
            "generation": generation.id,
            "documents": list(reasons),
            "failures": [refusal.reason for refusal in reasons.values()],
            "failure_classes": [refusal.failure_class for refusal in reasons.values()],
        },
    )
    for uri, reason, failure_class in rows.fetchall():
        report.fail(uri, reason, FailureClass(failure_class))
