"""Azure's form of OpenAI's protocol over real HTTP: where requests go, with which key, and what its refusals say."""

from collections.abc import Iterator
from typing import Any

import pytest

from sourcebook.answering.completion import Completion
from sourcebook.answering.model_client import ModelClient, provider_of
from sourcebook.config.answering import AnsweringSettings
from sourcebook.config.passages import EmbeddingSettings
from sourcebook.embedding.remote.embedder import RemoteEmbedder
from sourcebook.providers.client import FOR_QUERIES
from sourcebook.providers.failures import ProviderError
from sourcebook.providers.limits import NoLimits
from tests.chat_server import Chat, ChatServer, Raw
from tests.provider_server import ProviderServer

KEY = "0123456789abcdef0123456789abcdef"
DEPLOYED = "/openai/deployments/my%20gpt/chat/completions"
ASKED: list[dict[str, Any]] = [{"role": "user", "content": "Hello"}]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer() as chat:
        yield chat


def answered(chat: ChatServer, **changed: Any) -> tuple[str, Completion]:
    given = {"provider": "azure", "base_url": chat.url.removesuffix("/v1"), "model": "my gpt", "timeout": "20s"}
    settings = AnsweringSettings.model_validate({**given, **changed})
    assert provider_of(settings) == "azure"
    with ModelClient(settings) as client:
        *text, end = client.complete(ASKED, 100, {}, lambda parts: parts)
    assert isinstance(end, Completion)
    return "".join(map(str, text)), end


@pytest.mark.parametrize(
    ("version", "path", "limit", "tells_usage"),
    [
        (None, "/openai/v1/chat/completions", "max_completion_tokens", True),
        ("2024-10-21", f"{DEPLOYED}?api-version=2024-10-21", "max_completion_tokens", True),
        ("2024-02-01", f"{DEPLOYED}?api-version=2024-02-01", "max_tokens", False),
    ],
)
def test_a_chat_goes_to_its_deployment(
    chat: ChatServer, version: str | None, path: str, limit: str, tells_usage: bool
) -> None:
    chat.answer = lambda asked: Chat("Good day.")
    text, end = answered(chat, api_version=version)
    (asked,) = chat.asked
    assert (text, end.finish) == ("Good day.", "stop")
    assert asked.path == path
    assert (asked.headers["api-key"], "Authorization" in asked.headers) == (KEY, False)
    assert (asked.body["model"], asked.body[limit], "stream_options" in asked.body) == ("my gpt", 100, tells_usage)


DENIED = b'{"error": {"code": "401", "message": "Access denied due to invalid subscription key 0123456789abcdef."}}'
FILTERED = b'{"error": {"code": "content_filter", "status": 400, "message": "The response was filtered."}}'
MISSING = (
    b'{"error": {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist."}}'
)
BUSY = b'{"error": {"code": "429", "message": "Requests have exceeded the token rate limit. Retry after 600 seconds."}}'
CUT = b'{"id": "1", "choices": [{"index": 0, "message": {"content": "Go'


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Raw(401, DENIED), r"status 401 \(.*key \*\*\*.*\): correct the key in the variable AZURE_OPENAI_API_KEY"),
        (Raw(404, MISSING), "knows no such address or model"),
        (Raw(400, FILTERED), "The response was filtered"),
        (Raw(429, BUSY, headers={"retry-after": "600"}), "asks to wait for 600 s"),
        (Raw(200, CUT), "it is no JSON"),
        (Raw(200, b'data: {"choices": [{"index": 0, "del', "text/event-stream"), "invalid answer|no JSON"),
    ],
)
def test_a_refusal_of_azure_is_one_sentence(chat: ChatServer, reply: Raw, said: str) -> None:
    chat.script(reply)
    with pytest.raises(ProviderError, match=said) as failed:
        answered(chat, api_version="2024-10-21")
    assert "0123456789" not in str(failed.value)


def test_a_busy_azure_is_waited_for(chat: ChatServer) -> None:
    chat.script(Raw(429, BUSY, headers={"retry-after-ms": "50"}), Chat("Good day."))
    assert answered(chat)[0] == "Good day."


def test_vectors_come_from_their_deployment() -> None:
    with ProviderServer() as server:
        given = {
            "provider": "azure",
            "base_url": server.url.removesuffix("/v1"),
            "model": "small",
            "api_version": "2024-10-21",
        }
        settings = EmbeddingSettings.model_validate(given)
        embedder = RemoteEmbedder(settings, None, None, NoLimits(), FOR_QUERIES)
        try:
            assert embedder.probe().shape == (server.dimensions,)
        finally:
            embedder.close()
        (asked,) = server.asked
        assert asked.path == "/openai/deployments/small/embeddings?api-version=2024-10-21"
        headers = {name.lower(): value for name, value in asked.headers.items()}
        assert (headers["api-key"], headers.get("authorization")) == (KEY, None)
