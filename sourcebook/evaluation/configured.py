"""The evaluation in a collection's settings, and the version of its result."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from sourcebook.config.evaluation import EvaluationSettings
from sourcebook.database.queries import queries
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.evaluation.floors import Floor
from sourcebook.model.generation import Generation


@dataclass(frozen=True, slots=True)
class EvaluationOutcome:
    """The last evaluation of a collection."""

    version: str
    """Digest of `evaluation_version`."""
    passed: bool
    description: str
    figures: dict[str, Any]
    """Measures and circumstances by name."""


def last_outcome(connection: Connection, collection: str) -> EvaluationOutcome | None:
    """Return the last recorded evaluation of a collection."""
    with connection.cursor(row_factory=class_row(EvaluationOutcome)) as cursor:
        return cursor.execute(queries["last_evaluation"], {"collection": collection}).fetchone()


def record_outcome(connection: Connection, collection: str, outcome: EvaluationOutcome) -> None:
    """Record an evaluation as the last one of a collection."""
    values = {**asdict(outcome), "figures": Jsonb(outcome.figures)}
    connection.execute(queries["record_evaluation"], {"collection": collection, **values})


def configured_floors(settings: EvaluationSettings) -> tuple[Floor, ...]:
    """Return the floors in the settings."""
    return tuple(Floor(measure, value) for measure, value in settings.floors.items())


def evaluation_version(
    connection: Connection,
    collection: str,
    settings: EvaluationSettings,
    generations: Sequence[Generation] = (),
    rules: Mapping[str, Any] | None = None,
) -> str:
    """Return a digest over everything that decides the result: the index, the settings, both files, the release.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        settings: its evaluation.
        generations: the generations that are asked; the active one where empty.
        rules: further settings that decide the result.

    Raises:
        EvaluationError: a file cannot be read.
    """
    asked: list[int | None] = [generation.id for generation in generations] or [None]
    parts = [
        *(_index(connection, collection, generation) for generation in asked),
        rules,
        settings.model_dump(mode="json"),
        _digest(settings.queries),
        _digest(settings.qrels),
        _release(),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _index(connection: Connection, collection: str, generation: int | None) -> str | None:
    scope = {"collection": collection, "generation": generation}
    row = connection.execute(queries["evaluated_index"], scope).fetchone()
    return str(row[0]) if row else None


def _digest(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a string, as settings hold it
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror or error}") from error


def _release() -> str | None:
    try:
        return version("sourcebook")
    except PackageNotFoundError:
        return None
