"""Every face has every field: a new one of the library must be added to the types of the server."""

import inspect
from dataclasses import MISSING, asdict, fields
from typing import Any

import pytest
from pydantic import ValidationError

from sourcebook.cli.commands.serve import serve
from sourcebook.contract.asking import AskRequest
from sourcebook.contract.fields import Numbers, Whole, declared
from sourcebook.contract.fusion import Fusion
from sourcebook.contract.reranking import Reranking
from sourcebook.contract.search import ContextRequest, SearchRequest
from sourcebook.contract.search_results import SearchResult, SearchResults
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.listening import DEFAULT_PORT, is_local
from sourcebook.server.request_models import Carried, FusionSettings, RerankingSettings
from sourcebook.server.routes.ask import AskQuery
from sourcebook.server.routes.facets import FacetQuery
from sourcebook.server.types import ContextQuery, FoundPassage, SearchAnswer, SearchQuery, SimilarQuery


@pytest.mark.parametrize(
    ("model", "request_type"),
    [(SearchQuery, SearchRequest), (ContextQuery, ContextRequest), (AskQuery, AskRequest), (FacetQuery, SearchRequest)],
)
def test_a_request_has_the_bounds_of_the_contract(model: type[Carried], request_type: type) -> None:
    schema = model.model_json_schema()["properties"]
    for name, each in declared(request_type).items():
        if name not in model.model_fields:
            continue
        field, allowed = each.field, str(schema[name])
        if isinstance(field, Whole) and not isinstance(field, Numbers):
            assert f"'minimum': {field.least}" in allowed
            assert f"'maximum': {field.most}" in allowed
        assert all(repr(choice) in allowed for choice in each.choices)
        assert model.model_fields[name].is_required() == (each.default is MISSING)


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": True}, "limit"),
        ({"typos": 1}, "typos"),
        ({"diversity": 1.5}, "diversity"),
        ({"mode": "loud"}, "mode"),
        ({"expand": ["friends"]}, "expand"),
        ({"limt": 3}, "limt"),
    ],
)
def test_what_the_contract_refuses_is_refused(values: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValidationError, match=wrong):
        SearchQuery.of(query="gauge", **values)


def test_whole_numbers_may_be_written_with_a_point() -> None:
    assert SearchQuery.of(query="gauge", limit=5.0).limit == 5


def test_similar_documents_have_every_option_of_the_method_with_its_default() -> None:
    options = {name: each.default for name, each in inspect.signature(KnowledgeBase.similar).parameters.items()}
    del options["knowledge"], options["as_principals"]  # a key or a header says for whom a request asks
    assert set(SimilarQuery.model_fields) == set(options)
    for name, field in SimilarQuery.model_fields.items():
        assert field.is_required() == (options[name] is inspect.Parameter.empty)
        assert field.is_required() or field.default == options[name]


def test_settings_have_every_field_with_its_default() -> None:
    assert FusionSettings().model_dump() == asdict(Fusion())
    of_the_operator = {"device", "provider", "base_url", "api_key_env"}  # no caller sends keys of the server anywhere
    known = {name: value for name, value in asdict(Reranking("m")).items() if name not in of_the_operator}
    assert RerankingSettings(model="m").model_dump() == known


def test_an_answer_has_every_field_of_the_results() -> None:
    result = SearchResult(1, "c", "u", "t", (), None, None, None, None, 0, "x", 1.0, None, None, 1)
    found = SearchResults((result,), 1.0, {}).as_dict()
    assert set(SearchAnswer.model_fields) == set(found)
    assert {field.name for field in fields(FoundPassage)} == set(found["results"][0])
    assert SearchAnswer.model_validate(found).results[0].uri == "u"


def test_the_command_offers_the_port_of_the_server() -> None:
    assert inspect.signature(serve).parameters["port"].default == DEFAULT_PORT


@pytest.mark.parametrize(
    ("address", "local"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("::", False), ("192.0.2.1", False)],
)
def test_only_loopback_addresses_are_local(address: str, local: bool) -> None:
    assert is_local(address) == local
