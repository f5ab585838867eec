"""What a language model reads holds no secret, in any face, without any setting; personal data goes by the setting."""

import json
from typing import Any

from tests.chat_server import AskedChat, Chat, ChatServer, quoting
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages

SECRETS = (
    "AKIAQ3EGXWZ7T2LMNB4C",
    "sk-Tq7Zp2Lm9Xc4Vb8Nd1Rk",
    "hunter2-of-the-harbour",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4b",
)
PERSONAL = ("harbour.master@example.org", "192.168.7.21", "http://gauges.intranet/board")
TEXT = (
    "# Access\n\nThe batteries of the tide gauge are ordered with the key {0}, and with {1} at night. The gauge has "
    "the password: {2} and its code is fetched by {3}. Ask {4}, or look at {5} and {6}.\n"
)
QUESTION = "Which key orders the batteries of the tide gauge?"


def rewriting_or_quoting(asked: AskedChat) -> Chat:
    """Leave a follow-up as it is, and answer what is asked."""
    return Chat(asked.question) if asked.text.startswith("You rewrite") else quoting(asked)


def read_by_models(stages: Stages, chat: ChatServer) -> dict[str, str]:
    """Return what each face puts before a language model."""
    knowledge = stages.knowledge
    chat.answer = rewriting_or_quoting
    chat.asked.clear()
    answer = knowledge.ask(f"{QUESTION} Mine is {SECRETS[0]}.", "handbook")
    found = {"ask": json.dumps([each.body for each in chat.asked]), "answer": str(answer)}
    chat.asked.clear()
    document = knowledge.documents("handbook")[0].document_id
    turn = {"question": f"Is {SECRETS[1]} the key?", "answer": f"No, {SECRETS[2]} is the password: {SECRETS[2]}"}
    given: dict[str, Any] = {"document": document, "instructions": f"My token is {SECRETS[3]}.", "history": [turn]}
    knowledge.ask("What are the batteries ordered with?", "handbook", **given)
    found["ask of a document"] = json.dumps([each.body for each in chat.asked])
    for form in ("markdown", "messages"):
        found[f"context as {form}"] = json.dumps(knowledge.context(QUESTION, format=form).as_dict())
    with serving(knowledge, requires_key=False) as client:
        found["REST context"] = client.post("/v1/context", {"question": QUESTION}).content.decode()
        retrieval = {"knowledge_id": "handbook", "query": QUESTION, "retrieval_setting": {"top_k": 3}}
        found["Dify"] = client.post("/retrieval", retrieval).content.decode()
        found["Open WebUI"] = client.post("/open-webui/search", {"query": QUESTION}).content.decode()
        chat.asked.clear()
        messages = [
            {"role": "system", "content": f"Answer in a table. My token is {SECRETS[3]}."},
            {"role": "user", "content": f"Is {SECRETS[1]} the key?"},
            {"role": "assistant", "content": f"No, it is {SECRETS[0]}."},
            {"role": "user", "content": QUESTION},
        ]
        sent = {"model": "sourcebook", "messages": messages}
        found["chat"] = client.post("/v1/chat/completions", sent).content.decode()
        found["chat's requests"] = read = json.dumps([each.body for each in chat.asked])
        assert all(said in read for said in ("Answer in a table", "the key?", "No, it is")), read
        number = knowledge.documents("handbook")[0].document_id
        for tool, arguments in (
            ("search_documents", {"query": QUESTION}),
            ("get_context", {"question": QUESTION}),
            ("fetch_document", {"document": number}),
        ):
            found[tool] = called(client, "tools/call", {"name": tool, "arguments": arguments})
        found["resource"] = called(client, "resources/read", {"uri": f"sourcebook://documents/{number}"})
        assert all("batteries" in text or name == "answer" for name, text in found.items()), found
    return found


def called(client: Client, method: str, parameters: dict[str, Any]) -> str:
    sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    return client.post("/mcp", sent, **headers).content.decode()


def test_no_secret_is_read_by_a_model_without_any_setting(stages: Stages, chat: ChatServer) -> None:
    stages.write("access.md", TEXT.format(*SECRETS, *PERSONAL))
    model = f"answering: {{base_url: '{chat.url}', model: reader, timeout: 20s}}"
    plain = f"collections:\n  handbook:\n    files: [{{root: ./docs}}]\n    {model}\n"
    stages.configure(plain)
    stages.run()
    for name, text in read_by_models(stages, chat).items():
        assert [each for each in SECRETS if each in text] == [], name
    (found,) = stages.knowledge.search(QUESTION)
    assert all(each in found.text for each in SECRETS)  # a person sees what is stored
    unredacted = stages.knowledge.context(QUESTION, unredacted=True).text
    assert SECRETS[3] in unredacted

    stages.configure(f"{plain}    redaction: {{at: models}}\n")
    for name, text in read_by_models(stages, chat).items():
        assert [each for each in SECRETS + PERSONAL if each in text] == [], name
    (found,) = stages.knowledge.search(QUESTION)
    assert all(each in found.text for each in SECRETS + PERSONAL)

    stages.configure(f"{plain}    redaction: {{categories: [email]}}\n")
    for name, text in read_by_models(stages, chat).items():
        assert [each for each in (*SECRETS, PERSONAL[0]) if each in text] == [], name
    (found,) = stages.knowledge.search(QUESTION)
    assert [each for each in SECRETS + PERSONAL if each not in found.text] == [PERSONAL[0]]
