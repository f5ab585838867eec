"""Answers of a language model behind real HTTP: cited from what was found, checked, within limits, or refused."""

import asyncio
import json
from typing import Any

import pytest

from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.contract.answers import REFUSALS, Answer, AnswerText, AskEvent, ToolUse
from sourcebook.contract.usage import Usage
from sourcebook.errors import ModelError, QueryError
from sourcebook.knowledge_base import KnowledgeBase
from tests.chat_server import AskedChat, Chat, ChatServer, Raw, Silence, quoting
from tests.integration.stages import Stages

QUESTION = "How long do the batteries of the tide gauge last?"
POWER = "# Power\n\nThe batteries of the tide gauge last fourteen months. The gauge runs on them alone.\n"
SEAL = "# Seals\n\nThe seal of the housing is greased in spring. Call harbour@example.org before.\n"
LONG = "# Log book\n\n" + "\n\n".join(
    f"On day {day} the water stood at {day * 7 % 311} centimetres." for day in range(400)
)
FAST = "timeout: 20s, "


def fill(stages: Stages) -> None:
    stages.write("handbook/power.md", POWER)
    stages.write("handbook/seal.md", SEAL)
    stages.write("handbook/log.md", LONG)
    stages.write("personnel/salaries.md", "# Salaries\n\nThe engineer of the batteries earns a marmalade bonus.\n")
    names = ("personnel", "handbook")
    stages.configure("collections:\n" + "".join(f"  {name}: {{files: [{{root: ./docs/{name}}}]}}\n" for name in names))
    stages.run_all(*names)


@pytest.fixture
def base(filled: Stages, chat: ChatServer) -> Stages:
    configure(filled, chat)
    return filled


def configure(stages: Stages, chat: ChatServer, settings: str = "", collection: str = "") -> None:
    stages.configure(
        "collections:\n"
        f"  handbook:\n    files: [{{root: ./docs/handbook}}]\n    {collection}\n"
        f"    answering: {{base_url: '{chat.url}', model: reader, {FAST}{settings}}}\n"
        "  personnel:\n    files: [{root: ./docs/personnel}]\n"
    )


def test_an_answer_cites_what_was_found(base: Stages, chat: ChatServer) -> None:
    chat.answer = quoting_once(chat)
    events = list(base.knowledge.ask_stream(QUESTION))
    answer = answer_of(events)
    assert answer.text == "The batteries of the tide gauge last fourteen months [1]."
    assert (answer.refused, answer.reason, answer.turns, answer.uncited_sentences) == (False, None, 1, 0)
    (citation,) = answer.citations
    (source,) = answer.sources
    assert (source.title, source.collection) == ("Power", "handbook")
    assert source.text[citation.start : citation.end] == citation.quote
    document = base.knowledge.show(source.document_id)
    assert document.text[citation.start_char : citation.end_char] == citation.quote
    assert isinstance(events[0], ToolUse)
    assert (events[0].query, events[0].found > 0) == (QUESTION, True)
    assert "".join(event.text for event in events if isinstance(event, AnswerText)).strip() == answer.text
    assert answer.answer_tokens is not None
    assert answer.prompt_tokens is not None
    assert answer.cost is None  # nobody knows the prices of this server
    (asked,) = chat.asked
    assert asked.path == "/v1/chat/completions"
    assert "Authorization" not in asked.headers
    assert "data, not instructions" in asked.text
    assert "marmalade" not in asked.text  # the collection personnel names no model


def test_nothing_relevant_asks_no_model(base: Stages, chat: ChatServer) -> None:
    chat.script(Chat("Anything [1]."))
    answer = base.knowledge.ask("Who won the ski jumping world cup in 1987?")
    assert (answer.refused, answer.reason, answer.turns, answer.cost) == (True, "nothing_relevant", 0, 0.0)
    assert answer.text == REFUSALS["nothing_relevant"]
    assert chat.asked == []


def used_by_answers(base: Stages) -> Usage:
    base.knowledge.release()
    (used,) = (each for each in base.knowledge.usage() if each.operation == "answer")
    return used


OF_POWER = "The batteries last fourteen months [1]."
WRITTEN: list[tuple[str, str | None, list[tuple[int, str]]]] = [
    ("They last fourteen months [99].", None, [(99, "no_such_source")]),
    ("The moon is made of cheese [1].", None, [(1, "not_in_source")]),
    ("The batteries last 44 months [1].", None, [(1, "not_in_source")]),
    ('They last long [1: "The batteries last for ever"].', None, [(1, "not_in_source")]),
    ("NO_ANSWER", None, []),
    ("They last fourteen months.", None, []),
    ("The batteries last fourteen months [1][99].", OF_POWER, [(99, "no_such_source")]),
    ("The batteries last fourteen months [1, 77].", OF_POWER, [(77, "no_such_source")]),
    (
        "The batteries last fourteen months [1](http://evil.example/?q=1). ![x](http://evil.example/i.png)",
        f"{OF_POWER} [link removed]",
        [],
    ),
]
"""(what the model writes, what is shown, what is taken out)."""


def test_what_does_not_hold_is_taken_out(base: Stages, chat: ChatServer) -> None:
    for written, shown, removed in WRITTEN:
        chat.script(Chat(written))
        answer = base.knowledge.ask(QUESTION)
        assert [(each.number, each.reason) for each in answer.removed_citations] == removed, written
        if shown is None:
            assert answer.reason == ("no_answer" if written == "NO_ANSWER" else "uncited")
            assert answer.text == REFUSALS[answer.reason]
            assert (answer.citations, answer.sources) == ((), ())
        else:
            assert (answer.text, answer.refused) == (shown, False)
            assert answer.removed_links == (2 if "evil" in written else 0)


def test_the_model_searches_and_fetches_and_then_answers(base: Stages, chat: ChatServer) -> None:
    chat.script(
        Chat("Let me look.", calls=[("search", {"query": "water log book of day 290", "limit": 1})]),
        Chat(calls=[("fetch", {"document": document_id(base, "log.md"), "start": 12_000})]),
        Chat("On day 290 the water stood at 164 centimetres [LAST]."),
    )
    scripted = chat.answer
    chat.answer = lambda asked: last_cited(scripted(asked), asked)
    events = list(base.knowledge.ask_stream(QUESTION))
    answer = answer_of(events)
    assert answer.text.startswith("On day 290 the water stood at 164 centimetres [")
    assert [each.tool for each in events if isinstance(each, ToolUse)] == ["search", "search", "fetch"]
    assert answer.turns == 3
    (citation,) = answer.citations
    (source,) = answer.sources
    assert base.knowledge.show(source.document_id).text[citation.start_char : citation.end_char] == citation.quote
    assert "On day 290" in citation.quote
    last = chat.asked[-1]
    assert [each["role"] for each in last.messages] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert last.body["tool_choice"] == "auto"


CALLS: list[tuple[str, Any, str]] = [
    ("delete_document", {"document": 1}, "no such tool"),
    ("search", {"query": ""}, "not allowed"),
    ("search", {"query": "seal", "collections": ["personnel"]}, "not allowed"),
    ("search", {"query": "seal", "unredacted": True}, "not allowed"),
    ("search", '{"query": "se', "not allowed"),
    ("search", "[" * 5_000, "not allowed"),
    ("search", {"query": "marmalade bonus of the engineer"}, ""),
    ("fetch", {"document": "salaries.md"}, "not allowed"),
    ("fetch", {"document": 10**30}, "not allowed"),
    ("fetch", {"document": True}, "not allowed"),
    ("fetch", {"url": "http://evil.example/"}, "not allowed"),
    ("fetch", None, "search first"),
]
"""(tool, arguments, part of the result); None is the document of another collection."""


def test_a_call_reaches_nothing_but_what_was_found(base: Stages, chat: ChatServer) -> None:
    (salaries,) = base.knowledge.documents("personnel")
    before = base.rows("SELECT count(*) AS n, max(id) AS last FROM document")
    for name, arguments, said in CALLS:
        sent = {"document": salaries.document_id} if arguments is None else arguments
        chat.script(Chat(calls=[(name, sent)]), Chat("NO_ANSWER"))
        assert base.knowledge.ask(QUESTION).reason == "no_answer"
        (result,) = [each["content"] for each in chat.asked[-1].messages if each["role"] == "tool"]
        assert said in result, (name, arguments)
        assert "earns" not in result, (name, arguments)
    assert base.rows("SELECT count(*) AS n, max(id) AS last FROM document") == before


def test_a_model_that_never_answers_is_stopped(base: Stages, chat: ChatServer) -> None:
    configure(base, chat, "max_turns: 2")
    chat.script(Chat(calls=[("search", {"query": "seal"})]))
    answer = base.knowledge.ask(QUESTION)
    assert (answer.reason, answer.turns, len(chat.asked)) == ("uncited", 2, 2)
    assert chat.asked[-1].body["tool_choice"] == "none"
    configure(base, chat, "tools: false")
    chat.script(Chat("The batteries last fourteen months [1]."))
    assert not base.knowledge.ask(QUESTION).refused
    assert "tools" not in chat.asked[0].body


def test_no_request_goes_beyond_a_limit(base: Stages, chat: ChatServer) -> None:
    """Cost and tokens are counted before a request is made, by bounds that are not too low."""
    configure(base, chat, "max_cost: 0.01, prices: {input: 1, output: 2}")
    chat.answer = quoting_once(chat)
    answer = base.knowledge.ask(QUESTION)
    assert answer.cost == pytest.approx(((answer.prompt_tokens or 0) + 2 * (answer.answer_tokens or 0)) / 1_000_000)
    used = used_by_answers(base)
    assert (used.texts, used.tokens, used.answer_tokens) == (1, answer.prompt_tokens, answer.answer_tokens)
    assert used.cost == pytest.approx(answer.cost)
    assert (used.collection, used.model, used.provider) == ("handbook", "reader", answer.provider)
    configure(base, chat, "max_cost: 0.01, prices: {input: 100, output: 2}")
    chat.script(Chat("Never."))
    assert (base.knowledge.ask(QUESTION).reason, chat.asked) == ("limit", [])
    configure(base, chat, "max_tokens: 500, answer_tokens: 100")
    assert (base.knowledge.ask(QUESTION).reason, chat.asked) == ("limit", [])
    configure(base, chat, "max_tokens: 2500, answer_tokens: 100")
    chat.script(Chat(calls=[("fetch", {"document": document_id(base, "power.md")})], usage={"prompt_tokens": 2_390}))
    assert base.knowledge.ask(QUESTION).reason in {"limit", "uncited"}
    configure(base, chat, "max_cost: 0.01")
    with pytest.raises(QueryError, match="price of the model reader is unknown"):
        base.knowledge.ask(QUESTION)


FAULTS: dict[str, tuple[list[Chat | Raw], str]] = {
    "503": ([Raw(503, b'{"error": {"message": "overloaded"}}')], ""),
    "429": ([Raw(429, b"{}", headers={"Retry-After": "0.01"})], ""),
    "no end": ([Chat("The batteries", ends=False)], ""),
    "cut": ([Chat("The batteries", breaks=True, ends=False)], ""),
    "no JSON": ([Raw(200, b"data: {oops\n\n", "text/event-stream")], ""),
    "error": ([Raw(200, b'data: {"error": {"message": "no memory"}}\n\n', "text/event-stream")], ""),
    "no object": ([Raw(200, b"data: [1]\n\ndata: [DONE]\n\n", "text/event-stream")], ""),
    "HTML": ([Raw(200, b"<html><h1>Portal</h1></html>", "text/html")], "text/html"),
    "401": ([Raw(401, b'{"error": {"message": "no key"}}')], "refuses the key"),
    "400": ([Raw(400, b'{"error": {"message": "context length exceeded"}}')], "context length exceeded"),
    "404": ([Raw(404, b"{}")], "correct base_url or model"),
    "always": ([Raw(500, b"no")] * 3, "3 times in a row"),
}
"""Answers before the right one, and the part of the error where a retry cures nothing."""


def test_a_server_that_fails(base: Stages, chat: ChatServer) -> None:
    for name, (faults, error) in FAULTS.items():
        chat.script(*faults, Chat(OF_POWER))
        if error:
            with pytest.raises(ModelError, match=error):
                base.knowledge.ask(QUESTION)
        else:
            assert base.knowledge.ask(QUESTION).text == OF_POWER, name
        assert len(chat.asked) == (len(faults) if error else len(faults) + 1), name


def test_a_stream_that_is_cut_after_its_first_sentence_is_no_answer(base: Stages, chat: ChatServer) -> None:
    """What was shown cannot be taken back: the request is not made again behind it."""
    chat.script(Chat("The batteries last fourteen months [1]. The gauge ru", ends=False, breaks=True))
    events = base.knowledge.ask_stream(QUESTION)
    assert isinstance(next(events), ToolUse)
    assert next(events) == AnswerText("The batteries last fourteen months [1].")
    with pytest.raises(ModelError, match="in the middle of an answer"):
        list(events)
    assert len(chat.asked) == 1
    used = used_by_answers(base)
    assert (used.texts, used.tokens, used.answer_tokens, used.cost) == (1, None, None, None), "nobody counted them"


def test_a_server_that_does_not_stream(base: Stages, chat: ChatServer) -> None:
    message = {"role": "assistant", "content": "The batteries last fourteen months [1]."}
    body = {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": float("nan"), "completion_tokens": -5},
    }
    chat.script(Raw(200, json.dumps(body).encode()))
    answer = base.knowledge.ask(QUESTION)
    assert not answer.refused
    assert (answer.prompt_tokens, answer.answer_tokens, answer.cost) == (None, None, None)


def test_what_a_collection_redacts_is_not_sent(base: Stages, chat: ChatServer) -> None:
    configure(base, chat, collection="redaction: {categories: [email]}")
    chat.answer = quoting_once(chat)
    base.knowledge.ask("Is harbour@example.org to be called before the seal of the housing is greased?")
    (asked,) = chat.asked
    assert "greased in spring" in asked.text
    assert "harbour@example.org" not in json.dumps(asked.body)
    assert "[EMAIL_1]" in asked.text


def test_questions_that_have_no_model(base: Stages, chat: ChatServer) -> None:
    knowledge: KnowledgeBase = base.knowledge
    with pytest.raises(QueryError, match="personnel is sent to no language model"):
        knowledge.ask(QUESTION, "personnel")
    with pytest.raises(QueryError, match="there is no collection"):
        knowledge.ask(QUESTION, "nothing")
    with pytest.raises(QueryError, match="base_url"):
        knowledge.ask(QUESTION, answering={"base_url": "ftp://x", "model": "m"})
    with pytest.raises(QueryError, match="the question is empty"):
        knowledge.ask("")
    chat.answer = quoting_once(chat)
    given = {"base_url": chat.url, "model": "reader"}
    answer = knowledge.ask("What does the engineer of the batteries earn?", "personnel", answering=given)
    assert "marmalade bonus" in answer.text


def test_the_schemas_of_the_tools(base: Stages) -> None:
    search, fetch = (each["function"] for each in base.knowledge.tool_schemas())
    assert (search["name"], fetch["name"]) == ("search", "fetch")
    assert search["parameters"]["required"] == ["query"]
    assert fetch["parameters"]["additionalProperties"] is False
    parameters = [search["parameters"], fetch["parameters"]]
    anthropic, responses = (base.knowledge.tool_schemas(each) for each in ("anthropic", "responses"))
    assert [set(each) for each in anthropic] == [{"name", "description", "input_schema"}] * 2
    assert [each["input_schema"] for each in anthropic] == parameters
    assert [set(each) for each in responses] == [{"type", "name", "description", "parameters"}] * 2
    assert [each["parameters"] for each in responses] == parameters
    assert asyncio.run(AsyncKnowledgeBase(base.knowledge).tool_schemas("anthropic")) == anthropic
    assert RemoteKnowledgeBase("http://127.0.0.1:9").tool_schemas("anthropic") == anthropic
    with pytest.raises(QueryError, match="it must be one of openai, responses, anthropic"):
        base.knowledge.tool_schemas("google")  # type: ignore[arg-type] # what a program gets wrong


def test_where_nothing_is_clearly_relevant_the_citation_must_speak_of_the_question(
    base: Stages, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for least, written, reason in (
        (0.0, "The gauge runs on them alone [{}].", None),
        (2.0, "The gauge runs on them alone [{}].", "uncited"),
        (2.0, "The batteries of the tide gauge last fourteen months [{}].", None),
    ):
        monkeypatch.setattr("sourcebook.answering.tools.CLEAR_FROM", least)
        words = written.split(" [")[0]

        def answer_with(asked: AskedChat, words: str = words, written: str = written) -> Chat:
            return Chat(written.format(next(number for number, text in asked.sources.items() if words in text)))

        chat.answer = answer_with
        answer = base.knowledge.ask(QUESTION, "handbook")
        assert (answer.reason, bool(answer.citations)) == (reason, reason is None)


def answer_of(events: list[AskEvent]) -> Answer:
    answer = events[-1]
    assert isinstance(answer, Answer)
    return answer


def document_id(base: Stages, name: str) -> int:
    return int(base.rows("SELECT id FROM document WHERE uri LIKE %(end)s", end=f"%/{name}")[0]["id"])


def last_cited(chat: Chat | Raw | Silence, asked: AskedChat) -> Chat | Raw | Silence:
    """Return a completion that cites the last source that was shown."""
    if isinstance(chat, Chat) and "[LAST]" in chat.text:
        return Chat(chat.text.replace("[LAST]", f"[{max(asked.sources)}]"))
    return chat


def quoting_once(chat: ChatServer) -> Any:
    """Forget what was asked before, and let the model read."""
    chat.asked.clear()
    return quoting
