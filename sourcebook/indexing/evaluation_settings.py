"""The evaluation that a collection's settings ask for; whether there is one, every ingest with work asks."""

from psycopg import Connection

from sourcebook.config.evaluation import EvaluationSettings
from sourcebook.database.queries import queries


def configured_evaluation(connection: Connection, collection: str) -> EvaluationSettings:
    """Return the applied evaluation settings of a collection; their `queries` is None where it has none."""
    row = connection.execute(queries["evaluation_settings"], {"collection": collection}).fetchone()
    return EvaluationSettings.model_validate((row and row[0]) or {})
