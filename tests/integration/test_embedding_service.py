"""`sourcebook serve-embeddings` as a process: vectors, refusals, a collection that it embeds, kills, its end."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.errors import ModelError
from sourcebook.server.embedding_service.serving import serve_embeddings
from sourcebook.server.listening import ServingError
from tests.checkout import CHECKOUT
from tests.integration.cli.command import PROGRAM
from tests.integration.http_server import Answer, Client
from tests.integration.provided_collection import DOCUMENTS, build, configure, search
from tests.integration.stages import Stages

KEY = "a-key-of-the-embedding-service"
MODEL = "all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def serving(exported_model: Path) -> "Iterator[tuple[subprocess.Popen[str], Client]]":
    """One process of the service for all tests, whose model computes with onnxruntime."""
    told = ["serve-embeddings", MODEL, "--port", "0", "--device", "cpu", "--precision", "float32", "--texts", "50"]
    told += ["--tokens", "8000", "--body", "100000"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(CHECKOUT),
        "SOURCEBOOK_HOME": str(exported_model),
        "SOURCEBOOK_EMBEDDINGS_KEY": KEY,
    }
    process = subprocess.Popen([*PROGRAM, *told], stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stderr is not None
        said = process.stderr.readline() + process.stderr.readline()
        assert "384 dimensions: onnxruntime in float32" in said
        found = re.search(r"http://127\.0\.0\.1:(\d+)/v1 \(every caller sends the key\)", said)
        assert found is not None, said
        yield process, Client(int(found[1]), KEY)
    finally:
        if process.poll() is None:
            process.kill()
        with process:
            pass


@pytest.fixture
def service(serving: "tuple[subprocess.Popen[str], Client]") -> Client:
    return serving[1]


def ask(service: Client, texts: Any, **fields: Any) -> Answer:
    return service.post("/v1/embeddings", {"model": MODEL, "input": texts, **fields})


def vectors(answer: Answer) -> "np.ndarray[Any, Any]":
    return np.array([each["embedding"] for each in answer.json["data"]], np.float32)


def test_vectors_are_those_of_the_local_model_whoever_asks_beside(service: Client, embedder: OnnxEmbedder) -> None:
    """Callers at once get their own vectors; what is answered names the model, its dimensions and the tokens."""
    texts = [
        [f"The gauge of pier {number} is read {count} times." for count in range(number)] for number in range(1, 9)
    ]
    with ThreadPoolExecutor(8) as callers:
        answers = list(callers.map(lambda each: ask(service, each), texts))
    for sent, answered in zip(texts, answers, strict=True):
        np.testing.assert_allclose(vectors(answered), embedder.embed(sent), atol=1e-5)
        assert answered.json["usage"]["total_tokens"] == sum(map(embedder.count_tokens, sent))
    question = ask(service, "When is it read?", input_type="query", dimensions=64, encoding_format="base64").json
    assert (question["model"], len(question["data"][0]["embedding"])) == (MODEL, 344)  # 64 numbers of 4 bytes
    told = service.get("/v1/models").json["data"][0]
    assert told["identity"] == embedder.model.identity
    assert (told["dimensions"], told["max_tokens"]) == (384, 256)
    counted = service.get("/metrics").content.decode()
    assert "sourcebook_embedding_service_texts_total 37.0" in counted


def test_what_it_does_not_take_is_refused_without_an_echo(service: Client) -> None:
    """Each refusal has its status and OpenAI's form, and says nothing of what was sent."""
    refused = {
        400: [
            ask(service, []),
            ask(service, [1]),
            ask(service, "x", dimensions=385),
            ask(service, "x", unknown="s3cret"),
        ],
        401: [
            ask(Client(service.port, "wrong"), "x"),
            ask(Client(service.port), "x"),
            Client(service.port).get("/metrics"),
        ],
        404: [service.post("/v1/embeddings", {"model": "s3cret", "input": "x"})],
        413: [ask(service, ["x"] * 51), ask(service, ["word " * 300] * 40), ask(service, "x" * 100_001)],
    }
    refused[400].append(service.post("/v1/embeddings", b'{"s3cret'))
    for status, answers in refused.items():
        assert [answer.status for answer in answers] == [status] * len(answers)
        assert all(answer.json["error"]["message"] and b"s3cret" not in answer.content for answer in answers)
    assert Client(service.port).get("/healthz").json == {"status": "ok"}
    assert ask(service, "word " * 10_000).status == 200  # cut, as locally


def test_a_collection_is_embedded_and_searched_by_it(
    stages: Stages, service: Client, embedder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings of any provider reach it; its vectors are a model of their own in the ledger."""
    monkeypatch.setenv("SOURCEBOOK_EMBEDDINGS_KEY", KEY)
    for name, text in DOCUMENTS.items():
        stages.write(name, text)
    fields = {"query_input_type": "query", "passage_input_type": "passage", "api_key_env": "SOURCEBOOK_EMBEDDINGS_KEY"}
    configure(stages, f"http://127.0.0.1:{service.port}/v1", model=MODEL, **fields)
    assert build(stages).extra["computed"] == 3
    assert stages.generation.model.rpartition("/")[2] == "remote"
    assert stages.generation.model.partition("/")[0] != embedder.model.identity
    assert search(stages, "height of the sea")[0] == "tides.md"
    monkeypatch.setenv("SOURCEBOOK_EMBEDDINGS_KEY", "another-key-of-a-service")
    stages.write("wind.md", "# Wind\n\nAn anemometer measures the speed of the wind.")
    with pytest.raises(ModelError, match="SOURCEBOOK_EMBEDDINGS_KEY"):
        build(stages)


def test_a_killed_model_is_started_again_and_the_end_is_clean(
    serving: "tuple[subprocess.Popen[str], Client]",
) -> None:
    """Requests go on after the kill; SIGTERM lets the request that runs end, and leaves no process behind."""
    process, service = serving
    before = psutil.Process(process.pid).children(recursive=True)
    for child in before:
        if child.is_running():
            child.kill()
    statuses = [ask(service, "tides").status for _ in range(3)]
    assert statuses[-1] == 200
    assert set(statuses) <= {200, 503}
    children = psutil.Process(process.pid).children(recursive=True)
    slow = HTTPConnection("127.0.0.1", service.port, timeout=30)
    body = json.dumps({"model": MODEL, "input": ["word " * 30] * 50}).encode()
    slow.request("POST", "/v1/embeddings", body, {"Authorization": f"Bearer {KEY}"})
    assert ask(service, "x").status == 200  # by then the other one is there
    process.send_signal(signal.SIGTERM)
    with closing(slow), slow.getresponse() as answered:
        assert (answered.status, len(json.loads(answered.read())["data"])) == (200, 50)
    assert process.wait(60) == 0
    assert not psutil.wait_procs(children, 60)[1]


def test_without_a_key_other_machines_are_not_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command ends with the name of the variable before it loads anything; a short key is none."""
    monkeypatch.delenv("SOURCEBOOK_EMBEDDINGS_KEY", raising=False)
    with pytest.raises(ServingError, match="there is no key: set SOURCEBOOK_EMBEDDINGS_KEY"):
        serve_embeddings(MODEL, tmp_path, host="0.0.0.0", port=0, started=lambda *_: None)  # noqa: S104
    monkeypatch.setenv("SOURCEBOOK_EMBEDDINGS_KEY", "short")
    with pytest.raises(ServingError, match="is no key"):
        serve_embeddings(MODEL, tmp_path, port=0, started=lambda *_: None)


def test_processes_share_one_quota(stages: Stages) -> None:
    """Three processes that ask at once for requests of a minute get together exactly as many as the settings allow."""
    program = (
        "import sys\n"
        "from sourcebook.config.collection import EmbeddingSettings\n"
        "from sourcebook.database.database import Database\n"
        "from sourcebook.database.location import DatabaseLocation\n"
        "from pathlib import Path\n"
        "from sourcebook.providers.limits import limits_of\n"
        "settings = EmbeddingSettings(provider='openai', model='m', base_url='http://127.0.0.1:1/v1', "
        "requests_per_minute=7)\n"
        "with Database(DatabaseLocation(Path(sys.argv[1]), sys.argv[2])) as database:\n"
        "    limits = limits_of(database.connection, settings, sys.argv[3])\n"
        "    print(sum(limits.take(1).request is not None for _ in range(6)))\n"
    )
    told = [sys.executable, "-c", program, str(stages.database.location.home), stages.database.url]
    workers = [
        subprocess.Popen(
            [*told, name], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}
        )
        for name in ("handbook", "handbook", "letters")
    ]
    assert sum(int(worker.communicate(timeout=60)[0]) for worker in workers) == 7
