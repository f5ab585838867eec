"""Answers over HTTP, to a client and to an event loop: what a key sees, whole or as events, and the log behind them."""

import asyncio
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from socket import SHUT_RDWR
from typing import Any

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.answering.log_import import import_log
from sourcebook.answering.logged_calls import delete_old_calls
from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.contract.answers import AnswerText, ToolUse
from sourcebook.errors import ConfigurationError, ModelError, QueryError
from sourcebook.server import asking
from tests.chat_server import Chat, ChatServer, Raw, Silence, quoting
from tests.integration.event_stream import Event, events
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages
from tests.waiting import until, wait_until

QUESTION = "How long do the batteries of the tide gauge last?"
ANSWER = "The batteries of the tide gauge last fourteen months [1]."
CANARY = "harbour.master@example.org"


@pytest.fixture
def base(stages: Stages, chat: ChatServer) -> Stages:
    """Three collections: two with the same model and a log, one without."""
    chat.answer = quoting
    chat.asked.clear()
    stages.write(
        "handbook/power.md", f"# Power\n\nThe batteries of the tide gauge last fourteen months. Ask {CANARY}.\n"
    )
    stages.write("personnel/salaries.md", "# Salaries\n\nThe engineer of the batteries earns a marmalade bonus.\n")
    stages.write("plans/plan.md", "# Plans\n\nThe batteries of the lighthouse are to last a century.\n")
    model = f"answering: {{base_url: '{chat.url}', model: reader, timeout: 20s, log: true, retention: 7d}}"
    stages.configure(
        "collections:\n"
        f"  handbook:\n    files: [{{root: ./docs/handbook}}]\n    {model}\n"
        f"  personnel:\n    files: [{{root: ./docs/personnel}}]\n    {model}\n"
        "  plans: {files: [{root: ./docs/plans}]}\n"
    )
    for name in ("personnel", "plans", "handbook"):
        stages.collection = name
        stages.run()
    return stages


def order(row: str) -> int:
    """Return the number of a bad row by its name, such as `responses b3`; 0 for the one without an id."""
    return int(row.rpartition(" b")[2]) if " b" in row else 0


def key(stages: Stages, name: str, *scopes: str, only: list[str] | None = None) -> str:
    with stages.connection() as connection:
        _, text = create_key(connection, name, scopes or ("read",), only, actor="test")  # type: ignore[arg-type]
    return text


def streamed(client: Client, body: dict[str, Any]) -> list[Event]:
    connection = HTTPConnection("127.0.0.1", client.port, timeout=30)
    try:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {client.key}"}
        connection.request("POST", "/v1/ask", json.dumps({**body, "stream": True}), headers)
        answer = connection.getresponse()
        assert answer.status == 200
        assert (answer.getheader("content-type") or "").startswith("text/event-stream")
        return list(events(answer))
    finally:
        connection.close()


def test_answers_over_http(base: Stages, chat: ChatServer) -> None:
    """What a key may not see is in no answer and in no prompt."""
    limited, everyone = key(base, "website", only=["handbook"]), key(base, "all", "read", "admin")
    other = key(base, "planner", only=["plans"])
    with serving(base.knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, limited)
        whole = client.post("/v1/ask", {"question": QUESTION})
        assert (whole.status, whole.json["text"], whole.json["reason"]) == (200, ANSWER, None)
        told = streamed(client, {"question": QUESTION})
        assert [each.name for each in told] == ["tool_use", "text", "answer"]
        assert told[1].data == {"text": ANSWER}
        assert told[2].data["citations"] == whole.json["citations"]
        assert "marmalade" not in "".join(asked.text for asked in chat.asked)

        for hidden, missing in (("personnel", "nothing"),):
            first, second = (
                client.post("/v1/ask", {"question": QUESTION, "collections": each}) for each in (hidden, missing)
            )
            assert (first.status, first.content) == (second.status, second.content)
            assert first.status == 404
        assert Client(anyone.port, other).post("/v1/ask", {"question": QUESTION}).status == 404
        refused = Client(anyone.port, everyone).post("/v1/ask", {"question": QUESTION, "collections": ["plans"]})
        assert (refused.status, "sent to no language model" in refused.json["detail"]) == (400, True)
        assert client.post("/v1/ask", {"question": QUESTION, "answering": {"base_url": "http://x"}}).status == 422

        chat.script(Raw(401, b'{"error": {"message": "no key sk-secret-1"}}'))
        failed = client.post("/v1/ask", {"question": QUESTION})
        assert (failed.status, failed.json["type"]) == (503, "urn:sourcebook:problem:model")
        assert b"sk-secret" not in failed.content
        chat.script(Chat("The batteries last fourteen months [1]. And th", ends=False, breaks=True))
        told = streamed(client, {"question": QUESTION})
        assert [each.name for each in told] == ["tool_use", "text", "error"]
        assert told[-1].data["status"] == 503

        assert Client(anyone.port, limited).get("/v1/llm-calls").status == 403
        manager = Client(anyone.port, key(base, "manager", "read", "admin", only=["handbook"]))
        chat.answer = quoting
        assert Client(anyone.port, everyone).post("/v1/ask", {"question": QUESTION}).json["refused"] is False
        seen = manager.get("/v1/llm-calls?limit=100").json["calls"]
        assert {tuple(each["collections"]) for each in seen} == {("handbook",)}
        assert len(seen) == 4
        assert len(Client(anyone.port, everyone).get("/v1/llm-calls").json["calls"]) == 5
        assert manager.get("/v1/llm-calls/statistics").json["models"][0]["calls"] == 4
        assert manager.request("DELETE", "/v1/llm-calls").json == {"calls": 4}
        assert len(base.knowledge.llm_calls()) == 1


def test_whoever_leaves_ends_the_request_to_the_model(
    base: Stages, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that is silent is not waited for until its timeout of 20 s."""
    monkeypatch.setattr(asking, "SECONDS_BETWEEN_LOOKS", 0.05)
    knowledge = base.knowledge
    sent = {"question": QUESTION, "collections": "handbook"}
    with serving(knowledge, requires_key=False) as client:
        for is_streamed, shown in ((True, ""), (True, ANSWER), (False, ANSWER)):
            chat.script(Silence(shown + " And so"))
            connection = HTTPConnection("127.0.0.1", client.port, timeout=30)
            body = json.dumps({**sent, "stream": is_streamed})
            connection.request("POST", "/v1/ask", body, {"Content-Type": "application/json"})
            held = connection.sock
            if is_streamed:
                told = events(connection.getresponse())
                assert next(told).name == "tool_use"
                assert not shown or next(told).data == {"text": shown}
            wait_until(lambda: chat.asked)
            held.shutdown(SHUT_RDWR)
            assert chat.left.wait(15), (is_streamed, shown)  # before the model's timeout
            connection.close()
    chat.script(Silence(ANSWER + " And so"))
    found = knowledge.ask_stream(QUESTION, "handbook")
    assert [type(next(found)) for _ in range(2)] == [ToolUse, AnswerText]
    with ThreadPoolExecutor(1) as beside:
        waiting = beside.submit(next, found)
        wait_until(lambda: chat.asked)
        found.close()
        with pytest.raises(ModelError, match="no longer asked"):
            waiting.result(15)  # before the model's timeout
    assert chat.left.wait(15)  # before the model's timeout

    async def cancel() -> None:
        chat.script(Silence())
        found = await AsyncKnowledgeBase(knowledge).ask_stream(QUESTION, "handbook")
        assert isinstance(await anext(found), ToolUse)
        waiting = asyncio.ensure_future(anext(found))
        await until(lambda: chat.asked)
        waiting.cancel()
        await asyncio.wait([waiting])

    asyncio.run(cancel())
    assert chat.left.wait(15)  # before the model's timeout
    wait_until(lambda: len(knowledge.llm_calls(failed=True)) == 5)
    assert {each.failure for each in knowledge.llm_calls(failed=True)} == {"The caller left before the answer ended."}


def test_the_client_and_the_event_loop(base: Stages, chat: ChatServer) -> None:
    with (
        serving(base.knowledge, requires_key=False) as client,
        RemoteKnowledgeBase(f"http://127.0.0.1:{client.port}") as remote,
    ):
        direct, answer = base.knowledge.ask(QUESTION, "handbook"), remote.ask(QUESTION, "handbook")
        assert answer.text == direct.text == ANSWER
        assert (answer.citations, answer.sources) == (direct.citations, direct.sources)
        assert [type(each) for each in remote.ask_stream(QUESTION)] == [
            type(each) for each in base.knowledge.ask_stream(QUESTION)
        ]
        assert [each.session for each in remote.llm_calls(limit=4)] == [
            each.session for each in base.knowledge.llm_calls(limit=4)
        ]
        assert remote.llm_statistics() == base.knowledge.llm_statistics()
        with pytest.raises(QueryError, match="leave answering out"):
            remote.ask(QUESTION, answering={"model": "m"})
        chat.script(Raw(401, b"{}"))
        with pytest.raises(ModelError):
            remote.ask(QUESTION)
        assert remote.forget_llm_calls("handbook") == 2
    chat.answer = quoting

    async def ask() -> tuple[str, str]:
        knowledge = AsyncKnowledgeBase(base.knowledge)
        answer = await knowledge.ask(QUESTION, "handbook")
        parts = [each async for each in await knowledge.ask_stream(QUESTION, "handbook")]
        return answer.text, "".join(each.text for each in parts if isinstance(each, AnswerText))

    assert asyncio.run(ask()) == (ANSWER, ANSWER)


def test_the_log_is_redacted_and_ends(base: Stages, chat: ChatServer) -> None:
    knowledge = base.knowledge
    chat.script(Chat("Let me see.", calls=[("search", {"query": "gauge"})]), Chat(f"Ask {CANARY} [1]."))
    answer = knowledge.ask(f"Does {CANARY} know how long the batteries of the tide gauge last?", "handbook")
    second, first = knowledge.llm_calls(session=answer.session)
    assert (first.turn, second.turn, first.origin, first.collections) == (1, 2, "ask", ["handbook"])
    assert CANARY not in json.dumps([each.as_dict() for each in (first, second)])
    assert "[EMAIL_1]" in first.prompt
    assert first.answer == 'Let me see.\nsearch({"query": "gauge"})'
    assert second.answer == "Ask [EMAIL_1] [1]."
    assert second.prompt.startswith("assistant: Let me see.")
    assert (first.redacted, first.ok, first.failure, first.cost) == (True, True, None, None)
    chat.script(Raw(401, b'{"error": {"message": "who is harbour.master@example.org?"}}'))
    with pytest.raises(ModelError):
        knowledge.ask(QUESTION, "handbook")
    (failed,) = knowledge.llm_calls(failed=True)
    assert (failed.ok, failed.answer, CANARY in str(failed.failure)) == (False, "", False)
    (sums,) = knowledge.llm_statistics("handbook")
    assert (sums.calls, sums.failed, sums.sessions, sums.prompt_tokens, sums.without_cost) == (3, 1, 2, None, 3)
    assert knowledge.llm_calls("personnel") == []

    base.rows("UPDATE llm_call SET expires_at = now() - interval '1 s' WHERE turn = 2 RETURNING 1")
    assert len(knowledge.llm_calls(since=timedelta(hours=1))) == 2
    with base.connection() as connection:
        assert delete_old_calls(connection) == 1
    assert knowledge.forget_llm_calls("handbook", actor="test") == 2
    with base.connection() as connection:
        assert audit_events(connection, 1)[0].action == "llm_calls.forget"


LOG = """
CREATE TABLE responses (
    id TEXT, model TEXT, prompt, system TEXT, response TEXT, conversation_id TEXT, duration_ms INTEGER,
    datetime_utc TEXT
);
CREATE TABLE turns (
    id TEXT PRIMARY KEY, thread_id TEXT, model TEXT, resolved_model TEXT, input_tokens INTEGER, output_tokens INTEGER,
    duration_ms INTEGER, datetime_utc TEXT
);
CREATE TABLE turn_search (id INTEGER PRIMARY KEY, turn_id TEXT, prompt TEXT, response TEXT);
INSERT INTO turns VALUES ('t1', 'c2', 'gpt-4o-mini', NULL, 1000, 100, 9, '2026-05-01T10:00:00+00:00');
INSERT INTO turns VALUES ('t2', 'c2', 'my-own', NULL, 10, NULL, 9, '2026-05-01T10:01:00+00:00');
INSERT INTO turn_search (turn_id, prompt, response) VALUES ('t1', 'a', 'b'), ('t2', 'c', 'd');
"""
"""Tables as llm 0.10 and 0.36 make them, as far as the import reads them."""
BAD_ROWS: list[tuple[tuple[Any, ...], str]] = [
    ((None, "m", "p", None, "r", None, 1, "2025-01-01"), "it has no id"),
    (("b1", None, "p", None, "r", None, 1, "2025-01-01"), "it names no model"),
    (("b2", "m", None, None, None, None, 1, "2025-01-01"), "neither a prompt nor a response"),
    (("b3", "m", "p", None, "r", None, 1, "yesterday"), "datetime_utc is no time"),
    (("b4", "m", "p", None, "r", None, 1, "1970-01-01"), "before 2020"),
    (("b5", "m", "p", None, "r", None, -4, "2025-01-01"), "duration_ms is no count"),
    (("b6", "m", 7.5, None, "r", None, 1, "2025-01-01"), "prompt is no text"),
    (("b7", "m", b"\xff\xfe", None, "r", None, 1, "2025-01-01"), "prompt is no UTF-8"),
    (("b8", "m" * 300, "p", None, "r", None, 1, "2025-01-01"), "resolved_model|model is too long"),
]


def test_the_log_of_llm_is_imported_with_a_reason_for_each_rejected_row(base: Stages, tmp_path: Path) -> None:
    path = tmp_path / "logs.db"
    with closing(sqlite3.connect(path)) as log, log:
        log.executescript(LOG)
        good = ("r1", "gpt-4", f"Mail {CANARY}", "Be brief", "ok", "c1", 1500, "2024-05-01T10:00:00")
        log.executemany("INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [good, *(row for row, _ in BAD_ROWS)])
    with base.connection() as connection:
        done = import_log(connection, path)
        again = import_log(connection, path)
    assert (done.imported, done.known, len(done.rejected)) == (3, 0, len(BAD_ROWS))
    assert (again.imported, again.known, again.rejected) == (0, 3, done.rejected)
    for rejected, (_, reason) in zip(sorted(done.rejected, key=lambda each: order(each.row)), BAD_ROWS, strict=True):
        assert any(each in rejected.reason for each in reason.split("|")), (rejected, reason)
    calls = {(each.session, each.turn): each for each in base.knowledge.llm_calls()}
    assert sorted(calls) == [("c1", 1), ("c2", 1), ("c2", 2)]
    assert calls["c1", 1].prompt == "system: Be brief\n\nuser: Mail [EMAIL_1]"
    assert calls["c2", 1].cost == pytest.approx(0.00021)  # at 0.15 and 0.60 a million
    assert (calls["c2", 2].cost, calls["c2", 2].provider) == (None, "unknown")
    with closing(sqlite3.connect(path)) as log, log:
        log.execute("DELETE FROM responses")
        log.execute("DELETE FROM turns")
        rows = [(*good[:7], "2024-05-02"), ("r2", *good[1:]), ("r2", *good[1:])]
        log.executemany("INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    with base.connection() as connection:
        done = import_log(connection, path)
    assert (done.imported, done.known, [each.reason for each in done.rejected]) == (
        1, 0, ["an earlier row of its table has the same id", "another call with the same id was imported before"],
    )  # fmt: skip
    for content in (b"", b"no database at all" * 100):
        path.write_bytes(content)
        with base.connection() as connection, pytest.raises(ConfigurationError, match=r"logs\.db"):
            import_log(connection, path)
