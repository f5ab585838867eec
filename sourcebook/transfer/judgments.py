"""Judgments of a collection as lines of JSON, in an export and out of it."""

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

from psycopg import Connection
from psycopg.rows import dict_row
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from sourcebook.database.queries import queries
from sourcebook.errors import TransferError
from sourcebook.transfer.export_files import ExportFiles

JUDGMENTS: Final = "judgments.jsonl"
_ROWS: Final = 1_000
"""Judgments that are inserted at once."""
_Text = Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"^[^\x00]*$")]


class _Judgment(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    query: _Text
    uri: _Text
    grade: int = Field(strict=True, ge=-1_000, le=1_000)
    judged_at: AwareDatetime


def write_judgments(connection: Connection, collection: str, files: ExportFiles, path: str) -> int:
    """Write the judgments of a collection to a file, and return their number; without any there is no file."""
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["recorded_judgments"], {"collections": [collection]}).fetchall()
    if rows:
        with files.file(path) as file:
            for row in rows:
                line = {name: _plain(value) for name, value in row.items() if name != "collection"}
                file.write(f"{json.dumps(line, ensure_ascii=False)}\n".encode())
    return len(rows)


def load_judgments(connection: Connection, collection: str, path: Path) -> int:
    """Insert the judgments of a file into a collection, and return their number.

    Args:
        connection: in the transaction of the import.
        collection: name of the imported collection.
        path: the file.

    Raises:
        TransferError: a line is no judgment.
    """
    found: list[_Judgment] = []
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            try:
                found.append(_Judgment.model_validate_json(line))
            except ValidationError as error:
                raise TransferError(f"{path}: line {number} is no judgment: export again") from error
    for first in range(0, len(found), _ROWS):
        rows = found[first : first + _ROWS]
        connection.execute(
            queries["import_judgments"],
            {
                "collection": collection,
                "queries": [row.query for row in rows],
                "uris": [row.uri for row in rows],
                "grades": [row.grade for row in rows],
                "times": [row.judged_at for row in rows],
            },
        )
    return len(found)


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
