"""Reranking by a provider over real HTTP, in the three protocols; its answers are checked."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sourcebook.contract.reranking import Reranking
from sourcebook.errors import ModelError, QueryError
from sourcebook.providers.failures import RequestFailedError
from sourcebook.search.ranking.reranking.remote import scores_of
from sourcebook.search.ranking.reranking.reranker import Reranker
from tests.provider_server import Asked, ProviderServer, Reply

QUERY = "when does the tide turn"
PASSAGES = ["boats", "the tide turns at noon", "the tide"]


def overlap(query: str, text: str) -> float:
    return len({*query.split()} & {*text.split()}) / 10


def cohere(asked: Asked) -> Reply:
    """Cohere's and Jina's answer, the best first."""
    texts = asked.body["documents"]
    results = [{"index": at, "relevance_score": overlap(asked.body["query"], text)} for at, text in enumerate(texts)]
    return Reply(body={"results": sorted(results, key=lambda result: -result["relevance_score"])})


def tei(asked: Asked) -> Reply:
    texts = asked.body["texts"]
    if len(texts) > 2:
        return Reply(422, {"error": "batch size 3 > maximum allowed batch size 2", "error_type": "Validation"})
    results = [{"index": at, "score": overlap(asked.body["query"], text)} for at, text in enumerate(texts)]
    return Reply(body=results[::-1])


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        yield server


@pytest.fixture
def reranker() -> Iterator[Reranker]:
    reranker = Reranker()
    yield reranker
    reranker.close()


@pytest.mark.parametrize(
    ("provider", "answer", "sent"),
    [
        ("cohere", cohere, {"model": "m", "query": QUERY, "top_n": 3}),
        ("jina", cohere, {"model": "m", "query": QUERY, "top_n": 3, "return_documents": False}),
        ("tei", tei, {"query": QUERY, "truncate": True}),
    ],
)
def test_scores_stand_in_the_order_of_the_passages(
    server: ProviderServer,
    reranker: Reranker,
    monkeypatch: pytest.MonkeyPatch,
    provider: Any,
    answer: Callable[[Asked], Reply],
    sent: dict[str, Any],
) -> None:
    """The index decides; a batch that TEI refuses as too large is made in halves; a key of the environment is sent."""
    monkeypatch.setenv("RERANK_KEY", "sk-rerank")
    server.answer = answer
    reranking = Reranking("m", provider=provider, base_url=server.url, api_key_env="RERANK_KEY", timeout=30)
    scores = reranker.score(reranking, QUERY, PASSAGES).scores
    assert scores == tuple(overlap(QUERY, text) for text in PASSAGES)
    body = server.asked[0].body
    assert {name: value for name, value in body.items() if name not in {"documents", "texts"}} == sent
    assert server.asked[0].path == "/v1/rerank"
    headers = {name.lower(): value for name, value in server.asked[0].headers.items()}
    assert headers["authorization"] == "Bearer sk-rerank"
    asked = len(server.asked)
    assert reranker.score(reranking, QUERY, PASSAGES).scores == scores  # known: the next page costs no request
    assert len(server.asked) == asked


def test_a_broken_answer_is_asked_for_again(server: ProviderServer, reranker: Reranker) -> None:
    replies = iter([Reply(body={"results": []}), Reply(500, {})])
    server.answer = lambda asked: next(replies, None) or cohere(asked)
    reranking = Reranking("m", provider="cohere", base_url=server.url, timeout=30)
    assert reranker.score(reranking, QUERY, PASSAGES).scores is not None
    assert len(server.asked) == 3


def test_a_slow_provider_leaves_the_order_as_it_was(server: ProviderServer, reranker: Reranker) -> None:
    server.answer = lambda asked: Reply(body={}, delay=1)
    reranking = Reranking("m", provider="cohere", base_url=server.url, timeout=0.2)
    assert reranker.score(reranking, QUERY, PASSAGES).scores is None


def test_a_wrong_key_is_said(server: ProviderServer, reranker: Reranker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RERANK_KEY", "sk-rerank")
    server.answer = lambda asked: Reply(401, {"message": "invalid token sk-rerank"})
    reranking = Reranking("m", provider="jina", base_url=server.url, api_key_env="RERANK_KEY", timeout=30)
    with pytest.raises(ModelError, match=r"\(invalid token \*\*\*\): correct the key in the variable RERANK_KEY"):
        reranker.score(reranking, QUERY, PASSAGES)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([{"index": 0, "score": 1.0}], "1 scores for 2 passages"),
        ([{"index": 0, "score": 1.0}, {"index": 0, "score": 2.0}], "twice"),
        ([{"index": 0, "score": 1.0}, {"index": 2, "score": 2.0}], "the index '2'"),
        ([{"index": 0, "score": 1.0}, {"index": 1, "score": float("nan")}], "no finite number"),
        ([{"index": 0, "score": 1.0}, {"index": 1, "score": "2"}], "no finite number"),
        ([{"index": 0, "score": 1.0}, {"index": 1, "score": 10**400}], "no finite number"),
        ([{"index": 0, "score": 1.0}, 7], "the index 'None'"),
        ({"results": None}, "no list of scores"),
        ("busy", "no list of scores"),
    ],
)
def test_answers_without_one_score_for_each_passage_are_refused(answer: object, said: str) -> None:
    with pytest.raises(RequestFailedError, match=said):
        scores_of(answer, 2)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"provider": "tei"}, "needs base_url"),
        ({"provider": "openai"}, "is cohere, jina or tei"),
        ({"base_url": "http://127.0.0.1:1"}, "needs a provider"),
        ({"provider": "jina", "base_url": "ftp://x"}, "no http or https URL"),
        ({"provider": "jina", "api_key_env": "sk-0123"}, "no variable's name"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(QueryError, match=said) as refused:
        Reranking("m", **settings)
    assert "sk-0123" not in str(refused.value)


def test_a_name_alone_can_be_the_model_of_a_providers_own_server() -> None:
    """So that every face has it: `--rerank cohere:rerank-v3.5`, and a server that names it."""
    named = Reranking("cohere:rerank-v3.5", top=20)
    assert named == Reranking("rerank-v3.5", provider="cohere", top=20)
    assert (named.server[0], named.as_json()["model"]) == ("https://api.cohere.com/v2", "cohere:rerank-v3.5")
    assert Reranking(**named.as_json()) == named
    assert Reranking("./cohere:model").provider is None
    with pytest.raises(QueryError, match="give a name alone"):
        Reranking("m", provider="cohere", base_url="http://127.0.0.1:1").as_json()


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(401, {"id": "1", "message": "invalid api token"}), r"401 \(invalid api token\)"),
        (Reply(422, {"message": "too many tokens"}), "422"),
        (Reply(429, {"message": "trial key, 10 calls a minute"}, {"Retry-After": "600"}), "asks to wait for 600 s"),
        (Reply(body=b'{"id": "1", "results": [{"index": 0, "relev'), "it is no JSON"),
        (
            Reply(body={"results": [{"index": 0, "relevance_score": 0.5}] * 3}, cut=True),
            "breaks the connection|no JSON",
        ),
    ],
)
def test_cohere_that_fails_is_one_sentence(
    server: ProviderServer, reranker: Reranker, monkeypatch: pytest.MonkeyPatch, reply: Reply, said: str
) -> None:
    monkeypatch.setenv("COHERE_API_KEY", "co-0123456789")
    monkeypatch.setattr("sourcebook.contract.reranking.OWN_SERVERS", {"cohere": (server.url, "COHERE_API_KEY")})
    server.answer = lambda asked: reply
    with pytest.raises(ModelError, match=said):
        reranker.score(Reranking("cohere:rerank-v3.5", timeout=20), QUERY, PASSAGES)
    sent = [{name.lower(): value for name, value in each.headers.items()} for each in server.asked]
    assert {each["authorization"] for each in sent} == {"Bearer co-0123456789"}
    assert {each.body["model"] for each in server.asked} == {"rerank-v3.5"}


def test_the_protocols_own_servers_have_their_keys() -> None:
    assert Reranking("m", provider="cohere").server == ("https://api.cohere.com/v2", "COHERE_API_KEY")
    assert Reranking("m", provider="jina").server == ("https://api.jina.ai/v1", "JINA_API_KEY")
    assert Reranking("m", provider="jina", base_url="http://127.0.0.1:1/v1/").server == ("http://127.0.0.1:1/v1", None)
