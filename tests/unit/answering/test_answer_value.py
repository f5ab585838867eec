"""Values of answers: what a model writes is read, checked against its sources, and cleaned of what it planted."""

import json
from typing import Any

import pytest

from sourcebook.answering.answer_schema import AnswerSchema
from sourcebook.answering.answer_value import read_value
from sourcebook.answering.sources import Sources
from sourcebook.contract.documents import Document, Item

TEXT = "Invoice 4711 of the harbour. The total is 1,250 euros. See https://harbour.example/pay for the account."
SCHEMA = AnswerSchema.checked(
    {
        "type": "object",
        "properties": {"total": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["total"],
        "additionalProperties": False,
    }
)


@pytest.fixture
def sources() -> Sources:
    held = Sources()
    item = Item(1, "inbox", "file:///inbox/invoice.md", "Invoice", "file", "text/markdown", "en", 1, 1, "ready", None)
    held.add_part(Document(item, TEXT, {}, [], ()), 0, len(TEXT))
    return held


def told(value: Any, *citations: dict[str, Any]) -> str:
    return json.dumps({"value": value, "citations": list(citations)})


CITED = {"source": 1, "quote": "The total is 1,250 euros", "path": "/total"}


def test_a_value_with_its_citation(sources: Sources) -> None:
    made = read_value(f"```json\n{told({'total': 1250}, CITED)}\n```", SCHEMA, "Total?", sources, is_doubtful=False)
    assert (made.value, made.flaw, made.removed) == ({"total": 1250}, None, [])
    (citation,) = made.citations
    assert (citation.quote, citation.path) == ("The total is 1,250 euros", "/total")
    assert TEXT[citation.start_char : citation.end_char] == citation.quote


def test_citations_that_do_not_hold(sources: Sources) -> None:
    written = told(
        {"total": 1250},
        {"source": 9, "quote": "The total is 1,250 euros", "path": "/total"},
        {"source": 1, "quote": "The total is 9,999 euros", "path": "/total"},
        {"source": True, "quote": "The total is 1,250 euros"},
        {"source": "1"},
        {"source": 1, "quote": "The total is 1,250 euros", "path": "/nothing/here"},
    )
    made = read_value(written, SCHEMA, "Total?", sources, is_doubtful=False)
    assert [(each.number, each.reason) for each in made.removed] == [(9, "no_such_source"), (1, "not_in_source")]
    assert [each.path for each in made.citations] == [None]
    assert read_value(told({"total": 1}), SCHEMA, "Total?", sources, is_doubtful=False).citations == []


@pytest.mark.parametrize(
    "written",
    ["", "The total is 1,250 euros [1].", told({"total": 1250})[:-4], "[1]", '{"value": NaN}', "[" * 9_000, "{}"],
    ids=["nothing", "prose", "cut", "a list", "no number", "too deep", "no value"],
)
def test_what_is_no_object_with_a_value(written: str, sources: Sources) -> None:
    made = read_value(written, SCHEMA, "Total?", sources, is_doubtful=False)
    assert made.flaw is not None
    assert "value" in made.flaw
    assert (made.value, made.citations) == (None, [])


def test_a_value_that_the_schema_refuses(sources: Sources) -> None:
    made = read_value(told({"total": "1250"}, CITED), SCHEMA, "Total?", sources, is_doubtful=False)
    assert (made.flaw, made.value) == ('/total does not keep to type "integer"', None)


def test_a_model_that_finds_no_answer(sources: Sources) -> None:
    for written in (told(None), "NO_ANSWER", f"<think>{told({'total': 1}, CITED)}</think>{told(None)}"):
        assert read_value(written, SCHEMA, "Total?", sources, is_doubtful=False).says_no_answer, written


def test_links_that_no_source_holds_are_taken_out_of_texts(sources: Sources) -> None:
    note = "Pay at https://harbour.example/pay or https://evil.example/?total=1250 ![x](https://evil.example/i.png)"
    made = read_value(told({"total": 1250, "note": note}, CITED), SCHEMA, "Total?", sources, is_doubtful=False)
    assert made.value["note"] == "Pay at https://harbour.example/pay or [link removed] [link removed]"
    assert made.removed_links == 2


def test_where_nothing_is_clearly_relevant_a_citation_must_speak_of_the_question(sources: Sources) -> None:
    for question, holds in (("What is the total of the invoice in euros?", True), ("Who sings the anthem?", False)):
        made = read_value(told({"total": 1250}, CITED), SCHEMA, question, sources, is_doubtful=True)
        assert bool(made.citations) == holds
