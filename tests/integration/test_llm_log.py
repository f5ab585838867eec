"""The log of language models as programs write it: one call after the other, and from logs of their own."""

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sourcebook.answering.log_import import import_log
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.errors import ConfigurationError, QueryError
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages
from tests.integration.test_server import key

MAIL, SECRET = "harbour.master@example.org", "AKIAQ3EGXWZ7T2LMNB4C"


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.configure("collections:\n  handbook: {files: [{root: ./docs}]}\n  personnel: {files: [{root: ./docs}]}\n")
    return stages


def test_a_program_logs_its_own_calls(base: Stages) -> None:
    knowledge = base.knowledge
    tokens = {"prompt_tokens": 1_000, "answer_tokens": 100}
    first = knowledge.record_llm_call(
        "gpt-4o-mini",
        f"Mail {MAIL}",
        f"Use {SECRET}",
        provider="openai",
        session="s1",
        collections="handbook",
        **tokens,
    )
    assert (first.origin, first.prompt, first.answer) == ("program", "Mail [EMAIL_1]", "Use [TOKEN_1]")
    assert (first.turn, first.redacted, first.ok, first.collections) == (1, True, True, ["handbook"])
    assert first.cost == pytest.approx(0.00021)  # at 0.15 and 0.60 a million
    failed = knowledge.record_llm_call("my-own", "Hello", failure="It timed out.", session="s1", seconds=3.5, cost=0.5)
    assert (failed.turn, failed.ok, failed.failure, failed.cost, failed.provider) == (
        2,
        False,
        "It timed out.",
        0.5,
        "unknown",
    )
    assert [each.id for each in knowledge.llm_calls(session="s1")] == [failed.id, first.id]
    assert {(each.origin, each.model, each.calls, each.failed) for each in knowledge.llm_statistics()} == {
        ("program", "gpt-4o-mini", 1, 0),
        ("program", "my-own", 1, 1),
    }
    for wrong in ({"model": ""}, {"days": 0}, {"collections": "nothing"}, {"seconds": 1e9}, {"cost": -1.0}):
        with pytest.raises(QueryError):
            knowledge.record_llm_call(**{"model": "m", "prompt": "p", **wrong})  # type: ignore[arg-type]

    everyone, limited, reader = key(base, "all", "write"), key(base, "one", "write", only=["handbook"]), key(base, "r")
    with serving(knowledge, requires_key=True) as anyone:
        sent = {"model": "m", "prompt": f"Mail {MAIL}", "session": "s2"}
        client = Client(anyone.port, limited)
        made = client.post("/v1/llm-calls", {**sent, "collections": ["handbook"]})
        assert (made.status, made.json["prompt"], made.json["answer"]) == (201, "Mail [EMAIL_1]", "")
        assert client.post("/v1/llm-calls", sent).status == 400  # which collections it sees is not everybody's
        assert client.post("/v1/llm-calls", {**sent, "collections": ["personnel"]}).status == 404
        assert Client(anyone.port, reader).post("/v1/llm-calls", sent).status == 403
        assert client.post("/v1/llm-calls", {**sent, "prompt": 7}).status == 422
        with RemoteKnowledgeBase(f"http://127.0.0.1:{anyone.port}", everyone) as remote:
            again = remote.record_llm_call("m", "And then?", "Then nothing.", session="s2", days=1)
            assert (again.turn, again.answer) == (2, "Then nothing.")

    base.rows("UPDATE llm_call SET expires_at = now() - interval '1 s' WHERE session = 's2' RETURNING 1")
    assert knowledge.llm_calls(session="s2") == []
    knowledge.record_llm_call("m", "p")
    assert base.rows("SELECT count(*) AS held FROM llm_call")[0]["held"] == 3  # those of s2 are deleted


def test_logs_that_programs_keep_themselves_are_imported(base: Stages, tmp_path: Path) -> None:
    """By the names that such columns usually have, whatever the table is called; the rest of the file is left alone."""
    path = tmp_path / "app.db"
    with closing(sqlite3.connect(path)) as log, log:
        log.executescript(
            "CREATE TABLE users (id INTEGER, name TEXT);"
            "CREATE TABLE llm_logs (id INTEGER PRIMARY KEY, timestamp TEXT, session_id TEXT, provider TEXT, model TEXT,"
            " prompt TEXT, response TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, cost_usd REAL,"
            " latency_ms REAL, error TEXT);"
            "CREATE TABLE calls (created_at REAL, model_name TEXT, messages TEXT, output TEXT);"
        )
        log.executemany(
            "INSERT INTO llm_logs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    1,
                    "2026-05-01T10:00:00",
                    "s1",
                    "OpenAI",
                    "gpt-4o-mini",
                    f"Mail {MAIL}",
                    "Done",
                    10,
                    2,
                    0.25,
                    1500.5,
                    None,
                ),
                (
                    2,
                    "2026-05-01 10:01:00",
                    "s1",
                    "OpenAI",
                    "gpt-4o-mini",
                    "And?",
                    None,
                    10,
                    None,
                    None,
                    None,
                    "timeout",
                ),
                (3, "yesterday", "s1", "OpenAI", "m", "p", "r", 1, 1, None, None, None),
                (4, "2026-05-01T10:02:00", "s1", None, None, "p", "r", 1, 1, None, None, None),
            ],
        )
        log.execute("INSERT INTO calls VALUES (1777629600, 'my-own', '[{\"role\": \"user\"}]', 'Yes.')")
    with base.connection() as connection:
        done, again = import_log(connection, path), import_log(connection, path)
    assert (done.imported, done.known, [each.reason for each in done.rejected]) == (
        3, 0, ["datetime_utc is no time", "it names no model"],
    )  # fmt: skip
    assert (again.imported, again.known) == (0, 3)
    calls = {(each.session, each.turn): each for each in base.knowledge.llm_calls()}
    first, second = calls["s1", 1], calls["s1", 2]
    assert (first.prompt, first.answer, first.cost, first.provider) == ("user: Mail [EMAIL_1]", "Done", 0.25, "openai")
    assert (first.prompt_tokens, first.answer_tokens, first.seconds, first.ok) == (10, 2, 1.5005, True)
    assert (second.ok, second.failure, second.seconds) == (False, "timeout", None)
    (own,) = (each for each in calls.values() if each.model == "my-own")
    assert (own.answer, own.prompt, own.asked_at.year) == ("Yes.", 'user: [{"role": "user"}]', 2026)

    rows = [
        {"time": "2026-06-01T08:00:00Z", "model": "m", "question": "Why?", "answer": "So.", "tokens_in": "7"},
        {"time": "2026-06-01T08:01:00Z", "model": "m", "question": "How?", "answer": "", "tokens_in": "x"},
    ]
    with (tmp_path / "log.csv").open("w", newline="") as opened:
        table = csv.DictWriter(opened, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(each)}\n\n" for each in rows))
    for name in ("log.csv", "log.jsonl"):
        with base.connection() as connection:
            done = import_log(connection, tmp_path / name)
        assert (done.imported, [(each.row, each.reason) for each in done.rejected]) == (
            1, [("row 2", "input_tokens is no count")],
        )  # fmt: skip
    (tmp_path / "other.csv").write_text("name,age\nAnn,7\n")
    (tmp_path / "broken.jsonl").write_text('{"model": ')
    (tmp_path / "list.jsonl").write_text("[1]\n")
    with closing(sqlite3.connect(tmp_path / "other.db")) as log, log:
        log.execute("CREATE TABLE users (id INTEGER, model TEXT)")
    for name, said in (
        ("other.csv", "it is no log"),
        ("broken.jsonl", "cannot be read"),
        ("list.jsonl", "no object"),
        ("other.db", "no table"),
    ):
        with base.connection() as connection, pytest.raises(ConfigurationError, match=said):
            import_log(connection, tmp_path / name)
