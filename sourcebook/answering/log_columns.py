"""Logs of language models that programs keep themselves: tables, CSV and JSON lines whose columns have usual names."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final

from sourcebook.errors import ConfigurationError

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "call_id", "request_id", "uuid"),
    "conversation_id": ("conversation_id", "session_id", "thread_id", "chat_id", "run_id", "trace_id", "session"),
    "model": ("model", "model_name", "model_id", "llm_model", "llm"),
    "provider": ("provider", "service", "vendor"),
    "system": ("system", "system_prompt"),
    "prompt": ("prompt", "prompt_text", "user_prompt", "messages", "input", "input_text", "request", "question"),
    "response": (
        *("response", "response_text", "completion", "completion_text"),
        *("output", "output_text", "answer", "result"),
    ),
    "datetime_utc": (
        *("datetime_utc", "created_at", "timestamp", "called_at"),
        *("asked_at", "started_at", "time", "ts", "date"),
    ),
    "input_tokens": ("input_tokens", "prompt_tokens", "tokens_in", "tokens_input", "tokens_prompt"),
    "output_tokens": ("output_tokens", "completion_tokens", "tokens_out", "tokens_output", "answer_tokens"),
    "cost": ("cost", "cost_usd", "total_cost", "cost_dollars", "price"),
    "duration_ms": ("duration_ms", "latency_ms", "elapsed_ms", "response_time_ms", "took_ms"),
    "seconds": ("seconds", "duration", "latency", "elapsed", "duration_seconds", "latency_seconds", "duration_s"),
    "error": ("error", "error_message", "failure", "exception"),
}  # fmt: skip
"""Usual names of each column, the likeliest first; letters are compared in lower case."""
_NUMBERS: Final = frozenset({"input_tokens", "output_tokens", "cost", "duration_ms", "seconds"})
_MILLISECONDS_FROM: Final = 1e11
"""Number from which a time counts milliseconds since 1970, not seconds."""
FILES: Final = (".csv", ".jsonl", ".ndjson")
NEEDED: Final = (
    "a column of models, one of prompts or responses, and one of times, such as model, prompt and created_at"
)


def columns_of(names: Iterable[str]) -> dict[str, str] | None:
    """Return the columns of a table by what they are; None where it is no log of language models."""
    given = {name.lower(): name for name in names}
    likeliest = {kind: next((name for name in usual if name in given), None) for kind, usual in _NAMES.items()}
    found = {kind: given[name] for kind, name in likeliest.items() if name is not None}
    is_log = {"model", "datetime_utc"} <= set(found) and bool({"prompt", "response"} & set(found))
    return found if is_log else None


def usual_row(row: Mapping[str, Any], columns: Mapping[str, str], place: str) -> dict[str, Any]:
    """Return a row with the names and types of the log of the command llm.

    Args:
        row: values by the names of the table.
        columns: see `columns_of`.
        place: name of the row, which is its id where it has none.
    """
    found = {kind: _value(kind, row.get(name)) for kind, name in columns.items()}
    if found.get("id") in {None, b""}:
        found["id"] = place.encode()
    if found.get("duration_ms") is None and isinstance(found.get("seconds"), int | float):
        found["duration_ms"] = found["seconds"] * 1_000
    for name in ("input_tokens", "output_tokens"):
        value = found.get(name)
        found[name] = int(value) if isinstance(value, float) and value.is_integer() else value
    return found


def file_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a file of CSV or of JSON lines, with their places.

    Raises:
        ConfigurationError: it is none, or its columns are not those of a log.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as opened:
            rows: Iterator[Mapping[str, Any]] = csv.DictReader(opened) if path.suffix == ".csv" else _objects(opened)
            first = next(rows, None)
            columns = columns_of(map(str, first)) if first is not None else {}
            if columns is None:
                raise ConfigurationError(f"{path}: it is no log: there must be {NEEDED}")
            for number, row in enumerate(chain([] if first is None else [first], rows), start=1):
                yield f"row {number}", usual_row(row, columns, f"{path.name} {number}")
    except (OSError, UnicodeDecodeError, csv.Error, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: it cannot be read as a log of language models: {error}") from None


def _objects(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            found = json.loads(line)
            if not isinstance(found, dict):
                raise ValueError(f"line {number} is no object")
            yield found


def _value(kind: str, value: Any) -> Any:
    """Return a value as `log_import` takes it: a text as bytes, a number, or None."""
    if value is None or value == "" or value == b"":
        return None
    if kind in _NUMBERS:
        return _number(value)
    if kind == "datetime_utc":
        value = _time(value)
    if isinstance(value, dict | list):
        value = json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def _number(value: Any) -> Any:
    """Return a number that a text may be."""
    if isinstance(value, str | bytes):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _time(value: Any) -> Any:
    """Return a time that a number is: seconds or milliseconds since 1970."""
    number = _number(value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return value
    seconds = number / 1_000 if number >= _MILLISECONDS_FROM else number
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return value
