"""Answers in OpenAI's protocol, by its own client: whole and in chunks, with citations, and refused as it refuses."""

from typing import Any

import pytest

from tests.chat_server import Chat, ChatServer, Raw, quoting
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages
from tests.integration.test_server import key

QUESTION = "How long do the batteries of the tide gauge last?"
QUOTE = "The batteries of the tide gauge last fourteen months"
SEAL = "The seal of the tide gauge is greased in spring"
ASKED: Any = [{"role": "user", "content": QUESTION}]
PICTURE = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]


@pytest.fixture
def base(stages: Stages, chat: ChatServer) -> Stages:
    """Three collections: two with a model, one without."""
    chat.answer = quoting
    chat.asked.clear()
    stages.write("handbook/power.md", f"# Power\n\n{QUOTE}.\n")
    stages.write("handbook/seal.md", f"# Seals\n\n{SEAL}.\n")
    stages.write("personnel/salaries.md", "# Salaries\n\nThe engineer of the batteries earns a marmalade bonus.\n")
    stages.write("plans/plan.md", "# Plans\n\nThe batteries of the lighthouse are to last a century.\n")
    model = f"answering: {{base_url: '{chat.url}', model: reader, timeout: 20s}}"
    stages.configure(
        "collections:\n"
        f"  handbook:\n    files: [{{root: ./docs/handbook}}]\n    {model}\n"
        f"  personnel:\n    files: [{{root: ./docs/personnel}}]\n    {model}\n"
        "  plans: {files: [{root: ./docs/plans}]}\n"
    )
    stages.run_all("personnel", "plans", "handbook")
    return stages


def test_the_client_of_openai_is_answered(base: Stages, chat: ChatServer) -> None:
    import openai  # takes long, in each process that collects tests

    limited = key(base, "website", only=["handbook", "plans"])
    with (
        serving(base.knowledge, requires_key=True) as anyone,
        openai.OpenAI(base_url=f"http://127.0.0.1:{anyone.port}/v1", api_key=limited, max_retries=0) as client,
    ):
        assert [each.id for each in client.models.list()] == ["sourcebook", "sourcebook/handbook"]
        assert client.models.retrieve("sourcebook/handbook").owned_by == "sourcebook"

        made = client.chat.completions.create(model="sourcebook", messages=ASKED, temperature=0.2, max_tokens=50)
        (choice,) = made.choices
        assert (choice.message.content, choice.finish_reason) == (f"{QUOTE} [1].", "stop")
        (citation,) = [each.url_citation for each in choice.message.annotations or ()]
        assert f"{QUOTE} [1]."[citation.start_index : citation.end_index] == "[1]"
        assert (citation.title, citation.url.rpartition("/")[2].partition("#")[0]) == ("Power", "power.md")
        assert made.usage is not None
        assert made.usage.total_tokens == made.usage.prompt_tokens + made.usage.completion_tokens > 0
        assert made.model == "sourcebook"
        assert "marmalade" not in chat.asked[-1].text

        # Sources are numbered as they come, whatever their numbers in the search.
        chat.answer = lambda asked: Chat(
            " ".join(
                f'{each} [{number}: "{each}"].'
                for each in (SEAL, QUOTE)
                for number, text in asked.sources.items()
                if each in text
            )
        )
        told = list(
            client.chat.completions.create(
                model="handbook",
                messages=[{"role": "system", "content": "Be brief."}, *ASKED],
                stream=True,
                stream_options={"include_usage": True},
            )
        )
        assert told[0].choices[0].delta.role == "assistant"
        assert "".join(each.choices[0].delta.content or "" for each in told if each.choices) == (
            f"{SEAL} [1]. {QUOTE} [2]."
        )
        assert [each.choices[0].finish_reason for each in told if each.choices][-1] == "stop"
        assert told[-1].choices == []
        assert told[-1].usage is not None
        assert len({(each.id, each.created, each.model) for each in told}) == 1
        (extended,) = [each for each in told if (each.model_extra or {}).get("sources")]
        shown: list[dict[str, Any]] = (extended.model_extra or {})["sources"]
        assert [each["source"]["name"] for each in shown] == ["Seals", "Power"]
        assert SEAL in shown[0]["document"][0]
        delta = (extended.choices[0].delta.model_extra or {})["annotations"]
        assert [each["url_citation"]["title"] for each in delta] == ["Seals", "Power"]

        # A refusal is a sentence; nothing is cited.
        refused = client.chat.completions.create(
            model="sourcebook", messages=[{"role": "user", "content": "Who won the ski jumping world cup in 1987?"}]
        )
        assert refused.choices[0].message.content == "Nothing relevant was found, so no model was asked for an answer."
        assert not refused.choices[0].message.annotations

        # What fails after the beginning is an error of the stream, and no end of an answer.
        chat.script(Chat(f"{QUOTE} [1]. And th", ends=False, breaks=True))
        with pytest.raises(openai.APIError, match="the server of the language model"):
            list(client.chat.completions.create(model="sourcebook", messages=ASKED, stream=True))
        chat.script(Raw(401, b'{"error": {"message": "no key sk-secret-1"}}'))
        with pytest.raises(openai.InternalServerError) as failed:
            client.chat.completions.create(model="sourcebook", messages=ASKED)
        assert failed.value.status_code == 503
        assert "sk-secret" not in str(failed.value)
        chat.answer = quoting


def test_what_cannot_be_answered_is_refused_as_openai_refuses(base: Stages, chat: ChatServer) -> None:
    reader, other = key(base, "reader", only=["handbook"]), key(base, "planner", only=["plans"])
    wrong: list[tuple[dict[str, Any], int, str | None, str | None]] = [
        ({"model": "gpt-4o"}, 404, "model", "model_not_found"),
        ({"model": "personnel"}, 404, "model", "model_not_found"),  # it exists, and not for this key
        ({"model": "plans"}, 404, "model", "model_not_found"),
        ({"messages": []}, 400, "messages", None),
        ({"messages": [{"role": "user", "content": " "}]}, 400, "messages", None),
        ({"messages": [*ASKED, {"role": "assistant", "content": "Long."}]}, 400, "messages", None),
        ({"messages": [{"role": "user", "content": PICTURE}]}, 400, "messages.0.content", None),
        ({"n": 2}, 400, "n", None),
        ({"tools": [{"type": "function", "function": {"name": "x"}}]}, 400, "tools", None),
        ({"response_format": {"type": "json_object"}}, 400, "response_format", None),
        ({"logprobs": True}, 400, "logprobs", None),
        ({"messages": [{"role": "pirate", "content": "x"}]}, 422, "messages.0.role", None),
        ({"messages": "x"}, 422, "messages", None),
        ({"messages": [{"role": "user", "content": "x" * 100_001}]}, 400, None, None),
    ]
    with serving(base.knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, reader)
        for changed, status, param, code in wrong:
            for stream in (False, True):
                sent = {"model": "sourcebook", "messages": ASKED, "stream": stream, **changed}
                answer = client.post("/v1/chat/completions", sent)
                assert (answer.status, answer.headers["content-type"]) == (status, "application/json"), changed
                error = answer.json["error"]
                assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, code), changed
                assert error["message"]
        for path, sent in (
            ("/v1/chat/completions", {"model": "sourcebook", "messages": ASKED}),
            ("/v1/embeddings", {}),
        ):
            for caller in (anyone, Client(anyone.port, "sb_nothing")):
                answer = caller.post(path, sent)
                assert (answer.status, answer.json["error"]["code"]) == (401, "invalid_api_key")
                assert answer.headers["www-authenticate"].startswith("Bearer")
        assert client.get("/v1/chat/completions").json["error"]["type"] == "invalid_request_error"  # 405
        assert Client(anyone.port, other).get("/v1/models").json == {"object": "list", "data": []}
        assert Client(anyone.port, other).get("/v1/models/sourcebook").status == 404
        assert chat.asked == []


def test_open_webui_searches_beside_its_own_knowledge(base: Stages) -> None:
    with serving(base.knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, key(base, "ui", only=["handbook", "personnel"]))
        found = client.post("/open-webui/search?collection=handbook", {"query": QUESTION, "count": 1}).json
        assert [(each["title"], QUOTE in each["snippet"]) for each in found] == [("Power", True)]
        assert found[0]["link"].endswith("power.md")
        assert client.post("/open-webui/search?collection=plans", {"query": QUESTION}).status == 404
        assert anyone.post("/open-webui/search", {"query": QUESTION}).status == 401
        assert client.post("/open-webui/search", {"query": QUESTION, "count": 0}).status == 422
