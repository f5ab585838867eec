"""The settings of records as a source."""

from pathlib import Path
from typing import Any

import pytest

from sourcebook.config.loading import load_configuration
from sourcebook.config.records import RecordSource
from sourcebook.errors import ConfigurationError


def read(tmp_path: Path, records: str) -> RecordSource:
    path = tmp_path / "sourcebook.yaml"
    path.write_text(f"collections:\n  a:\n    records:\n      - {records}\n")
    return load_configuration(path).collections["a"].records[0]


def test_paths_are_found_from_the_file(tmp_path: Path) -> None:
    """Databases, Parquet files and modules beside the configuration are found from any folder."""
    notes = read(tmp_path, "{name: n, table: {url: 'sqlite:///data/notes.db', name: notes}, key: id, text: body}")
    assert notes.table is not None
    assert notes.table.url == f"sqlite:///{tmp_path}/data/notes.db"
    rows = read(tmp_path, "{name: n, table: {url: rows.parquet}, key: id, text: body, metadata: [status]}")
    assert rows.table is not None
    assert rows.table.url == f"{tmp_path}/rows.parquet"
    assert rows.metadata == {"status": "status"}
    board = read(tmp_path, "{name: n, python: 'board:Board', key: id, text: body}")
    assert board.python is not None
    assert (board.python.use, board.python.folder) == ("board:Board", str(tmp_path))


def test_uris_hold_any_key() -> None:
    notes: dict[str, Any] = {"name": "n", "pushed": True, "key": "id", "text": "body"}
    source = RecordSource.model_validate(notes)
    assert [source.uri(key) for key in ("7", "a/b", "ö %")] == [
        "record://n/7",
        "record://n/a%2Fb",
        "record://n/%C3%B6%20%25",
    ]


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ("{name: n, key: id, text: body}", "records come from one of table, python, dlt, rest and pushed"),
        ("{name: n, pushed: true, key: id}", "either text or template or file"),
        ("{name: n, pushed: true, key: id, file: path}", "below files.root alone"),
        ("{name: n, pushed: true, key: id, text: a, template: b}", "either text or template"),
        ("{name: n, table: {url: 'sqlite:///a.db'}, key: id, text: body}", "either a name or a query"),
        (
            "{name: n, table: {url: 'mysql://me:pa55word@db/x', name: n}, key: id, text: body}",
            "kept in the environment",
        ),
        *(
            (f"{{name: n, table: {{url: 'mysql://{url}', name: n}}, key: id, text: body}}", "literal value")
            for url in ("me:pa55word@${DB_HOST}/x", "db/x?password=pa55word")
        ),
        ("{name: n, table: {url: 'sqlite:///a.db', name: a.n}, key: id, text: body}", "{schema: harbour, name: notes}"),
        ("{name: n, python: {use: 'a:B', arguments: {token: pa55word}}, key: id}", "literal value"),
        ("{name: n, python: {use: 'a:B', load: {auth: [{api_key: pa55word}]}}, key: id}", "literal value"),
        ("{name: n, python: 'import os; os', key: id, text: body}", "module:Class"),
        ("{name: n, dlt: {use: 'a:b', arguments: {auth: {api_key: pa55word}}}, key: id, text: b}", "literal value"),
        ("{name: n, rest: {client: {base_url: 'http://a'}, resources: [b]}, key: id, text: b}", "paginator"),
        (
            "{name: n, rest: {client: {base_url: a, paginator: auto, auth: {token: pa55word}}, resources: [b]}}",
            "literal",
        ),
        (
            "{name: n, pushed: true, key: id, text: body}\n      - {name: n, pushed: true, key: id, text: b}",
            "this name already",
        ),
    ],
)
def test_mistakes_are_named_without_secrets(tmp_path: Path, records: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as error:
        read(tmp_path, records)
    assert "pa55word" not in str(error.value)
