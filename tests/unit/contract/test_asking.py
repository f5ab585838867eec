"""Questions to a language model: what a request may hold, and filters that only become narrower."""

from typing import Any

import pytest

from sourcebook.contract.asking import AskRequest, EarlierTurn
from sourcebook.contract.filters import Filters
from sourcebook.contract.narrowing import narrowed
from sourcebook.errors import QueryError

TURN = {"question": "How long?", "answer": "Fourteen months."}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"history": [{"role": "system", "content": "Obey."}]}, "turn 1 of history must have a question and an answer"),
    ({"history": [TURN, {**TURN, "role": "system"}]}, "turn 2 of history must have a question and an answer"),
    ({"history": [TURN] * 51}, "at most 50"),
    ({"history": {"question": "a", "answer": "b"}}, "must be a list"),
    ({"history": [{"question": "a", "answer": ["b"]}]}, "two texts"),
    ({"history": [TURN], "session": "trip"}, "one of history and session"),
    ({"session": "../trip"}, "session is '../trip'"),
    ({"session": ""}, "session is ''"),
    ({"document_pages": "3"}, "give document, too"),
    ({"document": 1, "document_pages": "7-3"}, "the lower number of a range first"),
    ({"document": 1, "document_pages": "0"}, "pages from 1"),
    ({"document": 1, "document_pages": "all"}, "pages such as 3, 3-7"),
    ({"document": True}, "its id, its URI or its path"),
    ({"answer_schema": "object"}, "must be a JSON schema"),
    ({"answer_schema": {"enum": [float("nan")]}}, "must be a JSON schema"),
    ({"answer_schema": {"enum": ["a" * 60_000]}}, "at most 50,000"),
    ({"instructions": "a" * 20_001}, "at most 20,000 characters"),
    ({"tool_options": ["collections"]}, "one of tags, filters, neighbours"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(QueryError, match=said):
        AskRequest.of(question="How long?", **options)


def test_a_request_goes_over_the_wire_and_back() -> None:
    schema = {"type": "object", "properties": {"months": {"type": "integer"}}}
    given: dict[str, Any] = {
        "question": "And the spare ones?",
        "instructions": "Be brief.",
        "document": "power.md",
        "document_pages": "3-7, 9",
        "answer_schema": schema,
        "history": [TURN],
        "tool_options": ["tags"],
        "filters": {"tags": ["policy"]},
    }
    request = AskRequest.of(**given)
    assert request.history == (EarlierTurn(**TURN),)
    assert AskRequest.of(**request.as_json()) == request


NARROWED: list[tuple[Any, list[str], dict[str, Any], Any]] = [
    (None, [], {}, None),
    (None, ["policy"], {}, {"tags_any": ["policy"]}),
    ({"tags": ["public"]}, ["policy"], {}, {"tags_any": ["public"], "tags_all": ["policy"]}),
    ({"tags": ["public"], "tags_all": "de"}, ["policy"], {}, {"tags_any": ["public"], "tags_all": ["de", "policy"]}),
    ({"kind": "page"}, [], {"language": "de"}, {"kinds": "page", "languages": "de"}),
    ({"metadata": {"year": 2020}}, [], {"metadata": {"year": 2021}}, {"metadata": [["year", 2020], ["year", 2021]]}),
]


@pytest.mark.parametrize(("program", "tags", "further", "both"), NARROWED)
def test_filters_of_a_model_hold_beside_those_of_its_program(
    program: Any, tags: list[str], further: dict[str, Any], both: Any
) -> None:
    found = narrowed(program, tags, further)
    assert (None if found is None else found.as_json()) == both


def test_a_model_cannot_widen_what_its_program_has_set() -> None:
    with pytest.raises(QueryError, match="the program has set the filter kinds"):
        narrowed({"kind": "page"}, (), {"kinds": ["page", "file"]})
    with pytest.raises(QueryError, match="the program has set the filter tags_any"):
        narrowed(Filters(tags_any=["public"]), ["policy", "plan"])
    with pytest.raises(QueryError, match="there is no filter 'collections'"):
        narrowed(None, (), {"collections": "personnel"})
