"""Every face has every field: a new one of the library must be added to the types of the server."""

import inspect
from dataclasses import asdict, fields

import pytest

from sourcebook.cli.commands.serve import serve
from sourcebook.contract.fusion import Fusion
from sourcebook.contract.reranking import Reranking
from sourcebook.contract.search_results import SearchResult, SearchResults
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.listening import DEFAULT_PORT, is_local
from sourcebook.server.types import (
    FoundPassage,
    FusionSettings,
    RerankingSettings,
    SearchAnswer,
    SearchQuery,
    SimilarQuery,
)


@pytest.mark.parametrize(
    ("model", "method"), [(SearchQuery, KnowledgeBase.search), (SimilarQuery, KnowledgeBase.similar)]
)
def test_a_request_has_every_option_of_the_method_with_its_default(
    model: type[SearchQuery | SimilarQuery], method: object
) -> None:
    assert callable(method)
    options = {
        name: parameter.default for name, parameter in inspect.signature(method).parameters.items() if name != "self"
    }
    assert set(model.model_fields) == set(options)
    for name, field in model.model_fields.items():
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
