"""Read queries: one JSON object a line, `{"id": "q1", "text": "How long do the batteries last?"}`."""

import json
from pathlib import Path

from sourcebook.evaluation.errors import refuse
from sourcebook.evaluation.lines import read_lines
from sourcebook.search.request import MOST_CHARACTERS

_EXAMPLE = '{"id": "q1", "text": "How long do the batteries last?"}'


def read_queries(path: Path) -> dict[str, str]:
    """Return each query's text by its id, in the file's order. `_id`, as BEIR writes it, is taken for `id`.

    Raises:
        EvaluationError: naming file, line and remedy.
    """
    queries: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in read_lines(path):
        identity, text = _read(path, number, line)
        if identity in queries:
            refuse(path, number, f"the id {identity!r} is already given on line {lines[identity]}: ids are unique")
        queries[identity] = text
        lines[identity] = number
    return queries


def _read(path: Path, number: int, line: str) -> tuple[str, str]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        refuse(path, number, f"this is not JSON ({error.msg}, column {error.colno}); a line looks like {_EXAMPLE}")
    except (ValueError, RecursionError):
        refuse(path, number, f"this JSON cannot be read; a line looks like {_EXAMPLE}")
    if not isinstance(row, dict):
        refuse(path, number, f"this is no JSON object; a line looks like {_EXAMPLE}")
    identity, text = row.get("id", row.get("_id")), row.get("text")
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if not isinstance(identity, str) or not identity.strip():
        refuse(path, number, f"the key id is missing, empty or no text; a line looks like {_EXAMPLE}")
    if not isinstance(text, str):
        refuse(path, number, f"the key text is missing or no text; a line looks like {_EXAMPLE}")
    if not text.replace("\0", " ").strip():
        refuse(path, number, "the query is empty: give it at least one word")
    if len(text) > MOST_CHARACTERS:
        refuse(path, number, f"the query has {len(text):,} characters, at most {MOST_CHARACTERS:,} are searched")
    return identity.strip(), text
