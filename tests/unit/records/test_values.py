"""Values of the fields of records."""

import json
from decimal import Decimal
from typing import Any

import pytest

from sourcebook.config.records import RecordSource
from sourcebook.records.mapping import RecordMapping
from sourcebook.records.values import is_set, value_of, words_of

CIRCLE: dict[str, Any] = {}
CIRCLE["circle"] = CIRCLE


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("torn")


def mapping() -> RecordMapping:
    written = {"key": "id", "text": "body", "language": "language", "metadata": ["fact"]}
    return RecordMapping(RecordSource.model_validate({"name": "n", "pushed": True, **written}))


def test_a_field_within_another_is_found_also_in_a_text_of_json() -> None:
    """Databases without a type for JSON hold the outer one as a text; a text that is none has no fields."""
    row: dict[str, Any] = {"one": {"by": {"name": "Ada"}}, "two": '{"by": {"name": "Ada"}}', "three": "{by", "a.b": 1}
    assert (value_of(row, "one.by.name"), value_of(row, "two.by.name")) == ("Ada", "Ada")
    assert (value_of(row, "three.by.name"), value_of(row, "four.by"), value_of(row, "a.b")) == (None, None, 1)
    assert value_of(row, "two") == '{"by": {"name": "Ada"}}'


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("pier, lamp,, pier", ["pier", "lamp"]),
        ('["pier", "lamp, oil", 7]', ["pier", "lamp, oil", "7"]),
        ("[pier], lamp", ["[pier]", "lamp"]),
        (["pier", " "], ["pier"]),
        (None, []),
    ],
)
def test_words_are_a_list_a_text_with_commas_or_a_list_in_json(value: object, words: list[str]) -> None:
    assert words_of(value) == words


@pytest.mark.parametrize("value", [None, 0, False, "", " No ", b"0", b"\0", b"\0\0", b"", 0.0])
def test_what_is_empty_or_says_no_marks_no_deletion(value: object) -> None:
    """A bit of MySQL is a byte."""
    assert not is_set(value)


@pytest.mark.parametrize("value", [1, True, "yes", "2024-01-01", b"1", b"\1", b"\0\1"])
def test_anything_else_marks_a_deletion(value: object) -> None:
    assert is_set(value)


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "sNaN", "1E+999999999"])
def test_a_number_that_json_has_not_is_no_fact(number: str) -> None:
    """PostgreSQL's numeric holds them; so does a float, the signal apart."""
    for value in (Decimal(number), *([] if number == "sNaN" else [float(number)])):
        content = mapping().rendered({"id": 1, "body": "Tides", "fact": value}).content or b""
        assert json.loads(content)["metadata"] == {}
    assert json.loads(mapping().rendered({"id": 1, "fact": Decimal(7)}).content or b"")["metadata"] == {"fact": 7}


@pytest.mark.parametrize("value", [10**5_000, CIRCLE, Broken()], ids=["huge", "circle", "broken"])
def test_a_value_of_a_program_that_is_no_text_fails_its_record_alone(value: object) -> None:
    for field, uri in {"id": "record://n/?without-key", "body": "record://n/1", "fact": "record://n/1"}.items():
        found = mapping().rendered({"id": 1, "body": "Tides", field: value})
        assert (found.uri, found.content) == (uri, None)
        assert "a field of it cannot be read" in str(found.failure)


@pytest.mark.parametrize(("said", "code"), [("en-US", "en"), ("DE_at", "de"), ("English", None), (None, None)])
def test_a_language_is_a_code_whatever_stands_behind_it(said: str | None, code: str | None) -> None:
    """Another word is left to the detection, as an unknown language would be searched without its grammar."""
    assert json.loads(mapping().rendered({"id": 1, "language": said}).content or b"")["language"] == code
