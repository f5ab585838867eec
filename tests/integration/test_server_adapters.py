"""The protocols of other programs: OpenAI's own client, and requests as Dify sends them."""

import numpy as np
import pytest

from sourcebook.knowledge_base import KnowledgeBase
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages
from tests.integration.test_server import CONFIGURATION, key

QUERY = "How long do the batteries last?"
MODEL = "all-MiniLM-L6-v2"


def fill(stages: Stages) -> None:
    """Two collections, of which a key may see one."""
    stages.write(
        "handbook/power.md", "---\nyear: 2021\nauthor: Ann\n---\n# Power\n\nThe batteries last fourteen months."
    )
    stages.write("handbook/seal.md", "# Seals\n\nThe seal of the housing is greased in spring.")
    stages.write("personnel/salaries.md", "# Salaries\n\nThe batteries engineer earns a marmalade bonus in winter.")
    stages.configure(CONFIGURATION)
    stages.run_all("personnel", "handbook")


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


def asked(**changed: object) -> dict[str, object]:
    setting = {"top_k": 2, "score_threshold": 0.0}
    return {"knowledge_id": "handbook", "query": QUERY, "retrieval_setting": setting, **changed}


def test_dify_gets_passages_with_their_relevance(base: Stages, knowledge: KnowledgeBase) -> None:
    limited = key(base, "dify", only=["handbook"])
    with serving(knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, limited)
        records = client.post("/retrieval", asked()).json["records"]
        direct = knowledge.search(QUERY, "handbook", limit=2, min_relevance=0)
        assert [each["content"] for each in records] == [hit.text for hit in direct]
        assert records[0]["score"] == pytest.approx(direct[0].relevance)
        assert records[0]["title"] == "Power"
        assert records[0]["metadata"]["author"] == "Ann"
        assert records[0]["metadata"]["document_id"] == direct[0].document_id
        strict = {"top_k": 2, "score_threshold": 1.0}
        assert client.post("/retrieval", asked(retrieval_setting=strict)).json == {"records": []}


def test_dify_is_refused_with_its_own_numbers(base: Stages, knowledge: KnowledgeBase) -> None:
    limited = key(base, "dify", only=["handbook"])
    with serving(knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, limited)
        for answer, status, number in [
            (anyone.post("/retrieval", asked()), 401, 1001),
            (anyone.post("/retrieval", asked(), Authorization=f"Token {limited}"), 401, 1001),
            (anyone.post("/retrieval", asked(), Authorization=f"Bearer {limited[:-1]}"), 401, 1002),
            (client.post("/retrieval", asked(knowledge_id="personnel")), 404, 2001),
            (client.post("/retrieval", asked(knowledge_id="nothing")), 404, 2001),
        ]:
            assert (answer.status, answer.json["error_code"]) == (status, number)
            assert answer.json["error_msg"]
        for wrong in ({"query": " "}, {"retrieval_setting": {"top_k": 0}}, {"query": "x" * 100_001}):
            assert client.post("/retrieval", asked(**wrong)).status == 422


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"name": "year", "comparison_operator": "=", "value": "2021"}, 1),
        ({"name": ["year"], "comparison_operator": "≥", "value": 2022}, 0),
        ({"name": "year", "comparison_operator": "<", "value": "2022"}, 1),
        ({"name": "author", "comparison_operator": "in", "value": ["Ann", "Bob"]}, 1),
        ({"name": "author", "comparison_operator": "empty"}, 1),
        ({"name": "author", "comparison_operator": "not empty"}, 1),
        ({"name": "author", "comparison_operator": "contains", "value": "n"}, None),
        ({"name": "author", "comparison_operator": "is"}, None),
    ],
)
def test_conditions_of_dify_are_filters(knowledge: KnowledgeBase, condition: object, found: int | None) -> None:
    with serving(knowledge, requires_key=False) as client:
        answer = client.post("/retrieval", asked(metadata_condition={"conditions": [condition]}))
        assert answer.status == (400 if found is None else 200)
        if found is not None:
            assert len(answer.json["records"]) == found


def test_alternatives_of_dify_are_refused(knowledge: KnowledgeBase) -> None:
    condition = {"name": "year", "comparison_operator": ">", "value": 1}
    with serving(knowledge, requires_key=False) as client:
        either = {"logical_operator": "or", "conditions": [condition, condition]}
        assert client.post("/retrieval", asked(metadata_condition=either)).status == 400
        twice = {"logical_operator": "and", "conditions": [condition, condition]}
        assert client.post("/retrieval", asked(metadata_condition=twice)).status == 400


def test_the_client_of_openai_gets_vectors(base: Stages, knowledge: KnowledgeBase) -> None:
    import openai  # takes long, in each process that collects tests

    texts = ["The batteries last fourteen months.", "Seals are greased."]
    with (
        serving(knowledge, requires_key=True) as anyone,
        openai.OpenAI(
            base_url=f"http://127.0.0.1:{anyone.port}/v1", api_key=key(base, "program"), max_retries=0
        ) as client,
    ):
        made = client.embeddings.create(model=MODEL, input=texts)  # asks for base64 by itself
        plain = client.embeddings.create(model=MODEL, input=texts, encoding_format="float", dimensions=384)
        vectors = np.array([each.embedding for each in made.data], np.float32)
        assert np.array_equal(vectors, np.array([each.embedding for each in plain.data], np.float32))
        assert np.allclose(vectors, knowledge.embed(texts).vectors, atol=1e-6)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        assert made.model == MODEL
        assert made.usage.prompt_tokens == made.usage.total_tokens == knowledge.embed(texts).tokens
        assert made.usage.total_tokens > len(texts)
        query = client.embeddings.create(model=MODEL, input=texts[0], extra_body={"input_type": "query"})
        assert len(query.data[0].embedding) == 384
        with pytest.raises(openai.NotFoundError):
            client.embeddings.create(model="text-embedding-3-small", input="a")
        with pytest.raises(openai.BadRequestError):
            client.embeddings.create(model=MODEL, input="a", dimensions=100)
        with pytest.raises(openai.UnprocessableEntityError):
            client.embeddings.create(model=MODEL, input=[[1, 2, 3]])
        with pytest.raises(openai.UnprocessableEntityError):
            client.embeddings.create(model=MODEL, input=[""])
        with pytest.raises(openai.AuthenticationError):
            client.with_options(api_key="sb_nothing").embeddings.create(model=MODEL, input="a")
    used = {(each.operation, each.model) for each in knowledge.usage(by=["operation", "model"])}
    assert ("embed_passages", MODEL) in used


def test_a_key_gets_vectors_of_the_models_that_it_sees_alone(base: Stages, knowledge: KnowledgeBase) -> None:
    with base.connection() as connection:
        connection.execute("UPDATE generation SET model = 'other:1' WHERE collection = 'personnel'")
    with serving(knowledge, requires_key=True) as anyone:
        limited = Client(anyone.port, key(base, "website", only=["handbook"]))
        wanted = {"model": "other", "input": "a"}
        assert limited.post("/v1/embeddings", wanted).status == 404
        assert limited.post("/v1/embeddings", {**wanted, "model": MODEL}).status == 200


def test_odd_values_break_no_adapter(knowledge: KnowledgeBase) -> None:
    odd = ["\0", "", "x" * 20_000, 10**400, -1, 1e308, float("nan"), float("inf"), True, [], ["\0"], [[1]], {"a": 1}]
    operators = ["is", "in", ">", "before", "≥", "empty", "", "\0"]
    with serving(knowledge, requires_key=False) as client:
        for value in odd:
            for operator in operators:
                condition = {"name": "year", "comparison_operator": operator, "value": value}
                answer = client.post("/retrieval", asked(metadata_condition={"conditions": [condition]}))
                assert answer.status in {200, 400, 422}, (value, operator)
            condition = {"name": value, "comparison_operator": "is", "value": "a"}
            answer = client.post("/retrieval", asked(metadata_condition={"conditions": [condition]}))
            assert answer.status in {200, 400, 422}, value
            assert client.post("/v1/embeddings", {"model": MODEL, "input": value}).status in {200, 422}, value
            assert client.post("/v1/embeddings", {"model": value, "input": "a"}).status in {404, 422}, value
        assert client.post("/v1/embeddings", {"model": MODEL, "input": ["a"] * 2_049}).status == 422
