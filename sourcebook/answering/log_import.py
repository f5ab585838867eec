"""Import of another log of language models, with a reason for every rejected row.

`logs.db` of the command llm: older versions wrote the table `responses`; later ones, such as 0.36, write `turns` and
keep the other as it is. Or a log that a program keeps itself: tables of SQLite, CSV, or JSON lines.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from psycopg import Connection, sql

from sourcebook.answering.call_log import IMPORT, MOST_CHARACTERS, RedactedTexts
from sourcebook.answering.log_columns import FILES, NEEDED, columns_of, file_rows, usual_row
from sourcebook.database.queries import queries
from sourcebook.embedding.prices import chat_cost
from sourcebook.errors import ConfigurationError
from sourcebook.model.plain_values import PlainValues
from sourcebook.model.usage import UNKNOWN_PROVIDER
from sourcebook.redaction.redactor import Redactor

_FIRST_YEAR: Final = 2020
"""Year before which there was no such log."""
_MOST_TOKENS: Final = 1 << 31
_MOST_SECONDS: Final = 7 * 86_400.0
_LONGEST_NAME: Final = 200
_MOST_COST: Final = 1e9
"""US dollars of a call, below which its cost is believed."""
_OWN: Final = "openai"
"""Service of the models that llm has without a plugin; others are named like `anthropic/claude-sonnet-4-5`."""
_TABLES: Final = {"responses": "llm_responses", "turns": "llm_turns"}
"""Queries by the table that they read."""


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that was not imported."""

    row: str
    """Table and id, or number of the row where it has none."""
    reason: str


@dataclass(frozen=True, slots=True)
class ImportedLog(PlainValues):
    """Outcome of the import of a log."""

    imported: int
    known: int
    """Rows that were imported before."""
    rejected: tuple[RejectedRow, ...]


class _RejectedError(Exception):
    """A row cannot be taken; the message says why."""


def import_log(connection: Connection, file: Path) -> ImportedLog:
    """Add the rows of a log to the knowledge base's, in one transaction; a row that is there already stays as it is.

    Args:
        connection: to the knowledge base.
        file: a SQLite database, which is only read; or a file `.csv` or `.jsonl`.

    Raises:
        ConfigurationError: there is no such file, it is of another kind, or it has no log.
        MissingDependencyError: the packages of the extra `server` are not installed.
    """
    texts = RedactedTexts([Redactor()])
    imported = known = 0
    rejected: list[RejectedRow] = []
    turns: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    with connection.transaction():
        for table, place, row in _rows(file):
            try:
                values = _values(row, texts, table)
            except _RejectedError as error:
                rejected.append(RejectedRow(place, str(error)))
                continue
            if (table, values["imported_id"]) in seen:
                rejected.append(RejectedRow(place, "an earlier row of its table has the same id"))
                continue
            seen.add((table, values["imported_id"]))
            turns[values["session"]] = values["turn"] = turns.get(values["session"], 0) + 1
            is_new = connection.execute(queries["log_llm_call"], values).rowcount
            if not is_new and _is_another(connection, values):
                rejected.append(RejectedRow(place, "another call with the same id was imported before"))
                continue
            imported += is_new
            known += not is_new
    return ImportedLog(imported, known, tuple(rejected))


def _is_another(connection: Connection, values: Mapping[str, Any]) -> bool:
    """Return whether the call that was imported with an id is not the same."""
    held = connection.execute(queries["imported_llm_call"], values).fetchone()
    return held is not None and held != (values["model"], values["asked_at"])


def _rows(file: Path) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the rows of the tables of a log, with their tables and places."""
    path = file.expanduser()
    if not path.is_file():
        raise ConfigurationError(f"{path}: there is no such file")
    if path.suffix.lower() in FILES:
        yield from ((path.name, place, row) for place, row in file_rows(path))
        return
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as held:
            held.row_factory = sqlite3.Row
            held.text_factory = bytes
            found = {name.decode() for (name,) in held.execute(_text("llm_tables")).fetchall()}
            tables = [name for name in _TABLES if name in found]
            if not tables:
                yield from _own_rows(path, held, sorted(found))
                return
            for table in tables:
                for number, row in enumerate(held.execute(_text(_TABLES[table])), start=1):
                    values = {name: row[name] for name in row.keys()}  # noqa: SIM118 - a row iterates over its values
                    name = values.get("id")
                    shown = name.decode("utf-8", "replace")[:_LONGEST_NAME] if isinstance(name, bytes) else str(number)
                    yield table, f"{table} {shown}", values
    except sqlite3.Error as error:
        raise ConfigurationError(f"{path}: it cannot be read as a log of the command llm: {error}") from None


def _own_rows(path: Path, held: sqlite3.Connection, names: list[str]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the rows of the tables that are logs by their columns."""
    has_log = False
    for table in names:
        rows = held.execute(queries["llm_table"].format(table=sql.Identifier(table)).as_string(None))
        columns = columns_of(name for name, *_ in rows.description)
        if columns is None:
            continue
        has_log = True
        for number, row in enumerate(rows, start=1):
            values = {name: row[name] for name in row.keys()}  # noqa: SIM118 - a row iterates over its values
            yield table, f"{table} {number}", usual_row(values, columns, f"{table} {number}")
    if not has_log:
        raise ConfigurationError(f"{path}: it has no table of the command llm, and none with {NEEDED}")


def _text(name: str) -> str:
    return queries[name].as_string(None)


def _values(row: Mapping[str, Any], texts: RedactedTexts, table: str) -> dict[str, Any]:
    """Return the values of a call in the ledger's log.

    Raises:
        _RejectedError: a field is missing or has a value that cannot be.
    """
    texts.reset()
    number = _words(row, "id", most=_LONGEST_NAME)
    model = _words(row, "resolved_model", most=_LONGEST_NAME) or _words(row, "model", most=_LONGEST_NAME)
    if not number:
        raise _RejectedError("it has no id")
    if not model:
        raise _RejectedError("it names no model")
    prompt, system, answer = (_words(row, name, most=MOST_CHARACTERS) for name in ("prompt", "system", "response"))
    error = _words(row, "error", most=MOST_CHARACTERS)
    if not (prompt or system or answer):
        raise _RejectedError("it has neither a prompt nor a response")
    asked_at = _time(_words(row, "datetime_utc", most=100))
    read, written = _count(row, "input_tokens", _MOST_TOKENS), _count(row, "output_tokens", _MOST_TOKENS)
    took = _amount(row, "duration_ms", _MOST_SECONDS * 1_000)
    told = "\n\n".join([*([f"system: {system}"] if system else []), *([f"user: {prompt}"] if prompt else [])])
    shown, said = texts.of(told), texts.of(answer)
    service, _, bare = model.rpartition("/")
    named = _words(row, "provider", most=_LONGEST_NAME)
    service = named.lower() or service or _OWN
    cost = chat_cost(service, bare, read, written, None, asked_at.date())
    told_cost = _amount(row, "cost", _MOST_COST)
    failure = error or (None if said else "There is no response in the imported log.")
    return {
        "session": _words(row, "conversation_id", most=_LONGEST_NAME) or number,
        "turn": 1,
        "origin": IMPORT,
        "imported_id": number if table in _TABLES else f"{table} {number} {asked_at.isoformat()}",
        "collections": [],
        "provider": service if named or cost is not None else UNKNOWN_PROVIDER,
        "model": model,
        "prompt": shown,
        "answer": said,
        "prompt_tokens": read,
        "answer_tokens": written,
        "cost": cost if told_cost is None else told_cost,
        "ok": failure is None,
        "failure": None if failure is None else texts.of(failure),
        "redacted": texts.found,
        "seconds": None if took is None else took / 1_000,
        "asked_at": asked_at,
        "expires_at": None,
    }


def _words(row: Mapping[str, Any], name: str, *, most: int) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, bytes):
        raise _RejectedError(f"{name} is no text")
    if len(value) > 4 * most:
        raise _RejectedError(f"{name} is too long")
    try:
        text = value.decode()
    except UnicodeDecodeError:
        raise _RejectedError(f"{name} is no UTF-8") from None
    if len(text) > most:
        raise _RejectedError(f"{name} is too long")
    return text.replace("\0", "").strip()


def _count(row: Mapping[str, Any], name: str, most: float) -> int | None:
    value = row.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or not 0 <= value < most:
        raise _RejectedError(f"{name} is no count")
    return value


def _amount(row: Mapping[str, Any], name: str, most: float) -> float | None:
    value = row.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < most):
        raise _RejectedError(f"{name} is no count")
    return value


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise _RejectedError("datetime_utc is no time") from None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    if found.year < _FIRST_YEAR or found > datetime.now(UTC) + timedelta(days=1):
        raise _RejectedError("datetime_utc is before 2020 or in the future")
    return found
