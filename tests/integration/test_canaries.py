"""Canaries: personal data and secrets of documents and questions, looked for in everything that is written beside them.

Only the sources and, with `at: output`, the tables of the stored texts hold them.
"""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry, generate_latest
from psycopg import sql

from orchestration.configuration_in_force import configuration_in_force
from orchestration.ingest import IngestEvents, ingest
from orchestration.instance import STORAGE_VARIABLE
from sourcebook.cli.context import CommandContext
from sourcebook.cli.sources import named_collections
from sourcebook.database.database import Database
from sourcebook.metrics import register
from sourcebook.model.selection import EVERYTHING
from sourcebook.redaction.categories import CATEGORIES
from sourcebook.telemetry import spans
from tests.chat_server import ChatServer
from tests.exported import link_model
from tests.integration.cli.command import run
from tests.unit.redaction.test_rules import CANARIES

OF_QUESTIONS = ("zoe@query.example.org", "4012888888881881", "GB33BUKB20201555555555", "+44 20 7946 0958")
QUESTION = f"Does the keeper {', '.join(OF_QUESTIONS)} oil the lamp?"
OF_TEXTS = {
    *(
        "parsed_content",
        "document",
        "chunk",
        "lexeme",
        "document_relation",
        "document_name",
        "document_abbreviation",
        "attachment",
    ),
    *("indexed_document", "search_entry"),
}
"""Tables that hold texts, titles, names and words of documents, and what they say of each other."""


@pytest.fixture
def here(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exported_model: Path) -> Iterator[Path]:
    """A folder with a collection that redacts what leaves it, logs queries and asks a model, not yet ingested."""
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "docs").mkdir()
    for number, (_, text, value) in enumerate(CANARIES):
        title = f"Keeper {value}" if "\n" not in value else "Keeper"
        body = f"# {title}\n\nThe keeper oils the lamp.\n\n```\n{text}\n```\n\nThe keeper says: {text}\n"
        (tmp_path / "docs" / f"{number}.md").write_text(body)
    (tmp_path / "docs" / "broken.json").write_text('{"password": "hunter2", "mail": "zhang@example.com"')
    (tmp_path / "docs" / "broken.ipynb").write_text('{"cells": "zhang@example.com", "nbformat": 4}')
    (tmp_path / "docs" / "broken.svg").write_text("<svg zhang@example.com ><text>password: hunter2</svg>")
    (tmp_path / "docs" / "broken.docx").write_bytes(b"PK\x03\x04 zhang@example.com")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    link_model(exported_model, tmp_path / "home")
    monkeypatch.setenv(STORAGE_VARIABLE, database.url)
    monkeypatch.setenv("DAGSTER_HOME", "")
    with ChatServer() as chat:
        settings = {
            "files": [{"root": "./docs"}],
            "retention": {"queries": "30d"},
            "redaction": {"categories": list(CATEGORIES)},
            "relations": {"patterns": [{"match": r"\S+@\S+", "target": "{0}"}]},
            "answering": {"base_url": chat.url, "model": "reader", "timeout": "20s", "log": True, "retention": "7d"},
        }
        (tmp_path / "sourcebook.yaml").write_text(json.dumps({"collections": {"handbook": settings}}))
        yield tmp_path
        sent = json.dumps([asked.text for asked in chat.asked])
    assert _leaks(sent) == []


def _leaks(text: str) -> list[str]:
    values = [*OF_QUESTIONS, *(value for _, _, value in CANARIES)]
    values += [json.dumps(value, ensure_ascii=False)[1:-1] for value in values] + [ascii(value) for value in values]
    return sorted({value for value in values if value in text})


def _rows(database: Database) -> dict[str, str]:
    """Return the text of every row of every table, by the table's name; Dagster's are those of the schema public."""
    with database.connection() as connection:
        tables = connection.execute(
            "SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
            "WHERE relkind IN ('r', 'p') AND nspname IN ('public', 'sourcebook') AND NOT relispartition"
        ).fetchall()
        return {
            f"{schema}.{name}": "\n".join(
                row
                for (row,) in connection.execute(
                    sql.SQL("SELECT held::text FROM {} held").format(sql.Identifier(schema, name))
                )
            )
            for schema, name in tables
        }


def test_canaries_are_in_no_log_event_trace_metric_or_answer(
    here: Path,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans, "_tracer", lambda: provider.get_tracer("sourcebook"))
    registry = CollectorRegistry()
    register(registry)
    told: dict[str, str] = {}
    with caplog.at_level(logging.DEBUG):
        context = CommandContext()
        names = named_collections(context, [], [])
        done = ingest(
            configuration_in_force(context), database, collections=names, selection=EVERYTHING, events=IngestEvents()
        )
        assert [each.name for each in done] == ["handbook"]
        for words in (
            *(("search", QUESTION, "--min-relevance", "0"), ("search", "keeper", "--json", "--mode", "keyword")),
            *(("context", QUESTION), ("ask", QUESTION), ("ask", "Who oils the lamp?", "--json")),
            *(("documents",), ("documents", "--failed"), ("status",), ("plan",), ("queries",), ("llm-log", "--json")),
            *(("show", "0.md"), ("related", "1.md"), ("similar", "2.md")),
            *(("tag", "3.md", "--add", "lamp"), ("remove", "4.md")),
            ("export", str(here / "out"), "--format", "markdown"),
        ):
            ran = run(*words)
            told[" ".join(words[:2])] = ran.out + ran.err
    told["log"] = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    told["streams"] = "\n".join(capfd.readouterr())
    told["traces"] = "\n".join(span.to_json() for span in exporter.get_finished_spans())
    told["metrics"] = generate_latest(registry).decode()
    told["export"] = "\n".join(path.read_text(errors="replace") for path in (here / "out").rglob("*") if path.is_file())
    rows = _rows(database)
    told |= {name: text for name, text in rows.items() if name.removeprefix("sourcebook.") not in OF_TEXTS}
    leaks = {name: found for name, text in told.items() if (found := _leaks(text))}
    assert leaks == {}, json.dumps(leaks, ensure_ascii=False)
    for table in ("public.event_logs", "public.runs", "sourcebook.audit_event", "sourcebook.logged_query"):
        assert rows[table], table
    for name in ("log", "traces", "metrics", "export"):
        assert len(told[name]) > 1_000, name
    assert rows["sourcebook.llm_call"]
