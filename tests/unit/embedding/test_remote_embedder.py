"""Embedding by a provider over real HTTP: every text gets its own vector, whatever goes wrong on the way."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.embedding.remote.access import described
from sourcebook.embedding.remote.embedder import RemoteEmbedder
from sourcebook.errors import ModelError
from sourcebook.providers.client import Patience
from sourcebook.providers.limits import NoLimits
from tests.provider_server import Asked, ProviderServer, Reply

PATIENT = Patience(attempts=8, seconds=60, timeout=5, waits_for_breaker=True)
Open = Callable[..., RemoteEmbedder]


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        yield server


@pytest.fixture
def connect(server: ProviderServer) -> Iterator[Open]:
    opened: list[RemoteEmbedder] = []

    def open_embedder(patience: Patience = PATIENT, **settings: Any) -> RemoteEmbedder:
        settings = {"provider": "openai", "base_url": server.url, "model": "m", **settings}
        given = EmbeddingSettings.model_validate(settings)
        model = described(given, "m:1", settings.get("dimensions") or server.dimensions)
        opened.append(RemoteEmbedder(given, None, model, NoLimits(), patience))
        return opened[-1]

    yield open_embedder
    for embedder in opened:
        embedder.close()


def expected(server: ProviderServer, texts: list[str]) -> np.ndarray:
    return np.array([server.vector(text) for text in texts], np.float32)


def shuffled(server: ProviderServer) -> Callable[[Asked], Reply]:
    """Answer right, but in another order than the texts'."""

    def answer(asked: Asked) -> Reply:
        body = server.vectors(asked)
        random.Random(1).shuffle(body["data"])
        return Reply(body=body)

    return answer


def test_every_text_gets_its_own_vector(server: ProviderServer, connect: Open) -> None:
    """In batches side by side and in answers of another order; no text is asked for twice."""
    server.answer = shuffled(server)
    texts = [f"text number {number}" for number in range(50)]
    found = connect(batch_size=7, parallel=3).embed(texts)
    np.testing.assert_allclose(found, expected(server, texts), atol=1e-6)
    assert sorted(server.texts) == sorted(texts)


def test_no_texts_need_no_request(server: ProviderServer, connect: Open) -> None:
    assert connect().embed([]).shape == (0, server.dimensions)
    assert server.asked == []


def test_questions_and_passages_have_their_prefixes_and_types(server: ProviderServer, connect: Open) -> None:
    embedder = connect(
        query_prefix="query: ", passage_prefix="passage: ", query_input_type="q", passage_input_type="p", dimensions=16
    )
    question, passage = embedder.embed_query("tides"), embedder.embed(["tides"])[0]
    bodies = [asked.body for asked in server.asked]
    assert [(body["input"], body["input_type"], body["dimensions"]) for body in bodies] == [
        (["query: tides"], "q", 16),
        (["passage: tides"], "p", 16),
    ]
    whole = server.vector("query: tides")[:16]
    np.testing.assert_allclose(question, np.array(whole) / np.linalg.norm(whole), atol=1e-6)
    assert passage.shape == (16,)


def test_a_fifth_of_faults_loses_and_misplaces_nothing(server: ProviderServer, connect: Open) -> None:
    """Errors, refusals, cut and wrong answers come at random; each text ends with its vector."""
    dice = random.Random(7)

    def answer(asked: Asked) -> Reply | None:
        if dice.random() >= 0.2:
            return None
        body = server.vectors(asked)
        kind = dice.choice(["429", "500", "cut", "count", "nan", "zeros", "index"])
        if kind == "429":
            return Reply(429, {"error": {"message": "slow"}}, {"retry-after-ms": "10"})
        if kind == "500":
            return Reply(500, b"<html>Oops</html>", content_type="text/html")
        if kind == "count":
            body["data"].pop()
        elif kind == "index":
            body["data"][0]["index"] = 1
        elif kind in {"nan", "zeros"}:
            row = body["data"][0]["embedding"]
            row[:] = [float("nan") if kind == "nan" else 0.0] * len(row)
        return Reply(body=body, cut=kind == "cut")

    server.answer = answer
    texts = [f"text number {number}" for number in range(400)]
    found = connect(batch_size=10, parallel=4).embed(texts)
    np.testing.assert_allclose(found, expected(server, texts), atol=1e-6)


def at_most(texts: int, status: int = 422) -> Callable[[Asked], Reply | None]:
    message = f"batch size is greater than the maximum allowed batch size {texts}"
    return lambda asked: Reply(status, {"error": {"message": message}}) if len(asked.body["input"]) > texts else None


def test_a_batch_that_is_too_large_is_made_in_halves(server: ProviderServer, connect: Open) -> None:
    """And the next batches are as small from the beginning."""
    server.answer = at_most(4)
    texts = [f"text number {number}" for number in range(32)]
    embedder = connect(batch_size=16, parallel=1)
    np.testing.assert_allclose(embedder.embed(texts), expected(server, texts), atol=1e-6)
    before = len(server.asked)
    embedder.embed(texts)
    assert [len(asked.body["input"]) for asked in server.asked[before:]] == [4] * 8


def test_one_text_that_is_too_long_is_cut_and_spoils_no_batch(
    server: ProviderServer, connect: Open, caplog: pytest.LogCaptureFixture
) -> None:
    """As local models do; a warning says so once, and the other batches stay whole."""

    def answer(asked: Asked) -> Reply | None:
        if max(len(text) for text in asked.body["input"]) > 100:
            return Reply(400, {"error": {"message": "maximum context length is 100 tokens"}})
        return None

    server.answer = answer
    texts = ["short one", "word " * 60, *(f"short {number}" for number in range(6))]
    embedder = connect(batch_size=8, parallel=1)
    found = embedder.embed(texts)
    cut = next(text for text in server.texts if text.startswith("word") and len(text) <= 100)
    np.testing.assert_allclose(found, expected(server, [texts[0], cut, *texts[2:]]), atol=1e-6)
    assert caplog.text.count("longer ones are cut") == 1
    before = len(server.asked)
    embedder.embed(texts[2:])
    assert len(server.asked) == before + 1


def test_a_refused_text_is_named(server: ProviderServer, connect: Open) -> None:
    def answer(asked: Asked) -> Reply | None:
        return Reply(400, {"error": {"message": "content policy"}}) if "poison" in str(asked.body) else None

    server.answer = answer
    with pytest.raises(ModelError, match=r"content policy.*for the text 'some poison here': leave its document out"):
        connect().embed(["good", "some poison here", "fine"])


def test_answers_of_another_length_stop_in_the_end(server: ProviderServer, connect: Open) -> None:
    embedder = connect(Patience(2, 30, timeout=5, waits_for_breaker=True))
    server.dimensions = 32
    with pytest.raises(ModelError, match="vectors of 32 numbers, where the model's have 64, 2 times in a row"):
        embedder.embed(["a"])


def test_usage_is_what_the_provider_counted(server: ProviderServer, connect: Open) -> None:
    """The meter has the tokens of each answered request; where the provider counts none, they are unknown."""
    embedder = connect(batch_size=2, parallel=1)
    embedder.embed(["one two", "three", "four"])
    assert embedder.meter.take_all() == 4
    server.answer = lambda asked: Reply(body={"data": server.vectors(asked)["data"]})
    embedder.embed_query("five")
    assert embedder.meter.take_all() is None
    assert embedder.provider == "127.0.0.1"


def test_a_closed_embedder_says_so(server: ProviderServer, connect: Open) -> None:
    embedder = connect()
    embedder.close()
    with pytest.raises(ModelError, match="closed"):
        embedder.embed(["a"])
