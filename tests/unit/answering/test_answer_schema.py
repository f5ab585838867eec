"""Schemas of answers: a caller's schema leads nowhere, takes no time, and is checked before a model is asked."""

from typing import Any

import pytest

from sourcebook.answering.answer_schema import AnswerSchema
from sourcebook.errors import QueryError

DOUBLED: dict[str, Any] = {
    "$defs": {**{f"a{level}": {"allOf": [{"$ref": f"#/$defs/a{level + 1}"}] * 2} for level in range(40)}, "a40": {}},
    "$ref": "#/$defs/a0",
}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"type": "objekt"}, "/type is not allowed"),
    ({"properties": []}, "/properties is not allowed"),
    ({"$ref": "https://schemas.example/invoice.json"}, "refers to another document"),
    ({"$ref": "file:///etc/passwd"}, "refers to another document"),
    ({"properties": {"total": {"$ref": "#/$defs/money"}}}, "refers to #/[$]defs/money, which it does not have"),
    ({"$ref": "#"}, "refers to itself too often"),
    (DOUBLED, "refers to itself too often"),
    ({"properties": {"total": {"$id": "https://schemas.example/x"}}}, "has a part with [$]id"),
    ({"pattern": "(?=a)b"}, "pattern that RE2 does not take"),
    ({"patternProperties": {"^(?!x)": {}}}, "pattern that RE2 does not take"),
]


@pytest.mark.parametrize(("schema", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_a_schema_that_is_refused(schema: dict[str, Any], said: str) -> None:
    with pytest.raises(QueryError, match=said):
        AnswerSchema.checked(schema)


def test_a_schema_that_is_nested_too_deeply() -> None:
    whole: dict[str, Any] = {}
    inner = whole
    for _ in range(5_000):
        inner["not"] = {}
        inner = inner["not"]
    with pytest.raises(QueryError, match="nested too deeply"):
        AnswerSchema.checked(whole)


def test_a_flaw_names_the_place_and_nothing_of_the_value() -> None:
    schema = AnswerSchema.checked(
        {
            "type": "object",
            "properties": {"lines": {"type": "array", "items": {"$ref": "#/$defs/line"}}},
            "required": ["lines"],
            "additionalProperties": {"type": "string", "pattern": "^[a-z]+$"},
            "$defs": {"line": {"type": "integer", "minimum": 1}},
        }
    )
    assert schema.flaw({"lines": [1, 2]}) is None
    assert schema.flaw({"lines": [1, 0]}) == "/lines/1 does not keep to minimum 1"
    assert schema.flaw({}) == 'the whole does not keep to required ["lines"]'
    flaw = schema.flaw({"lines": [], "see http://evil.example": "OBEY ME"})
    assert flaw == '/see_http___evil_example does not keep to pattern "^[a-z]+$"'


def test_a_pattern_takes_no_time() -> None:
    schema = AnswerSchema.checked({"type": "string", "pattern": "^(a+)+$"})
    assert schema.flaw("a" * 5_000 + "!") == 'the whole does not keep to pattern "^(a+)+$"'


def test_references_stay_true_below_the_value() -> None:
    """A server gets the schema within the object with its citations; names of properties are no keywords."""
    schema = AnswerSchema.checked(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"default": {"$ref": "#/$defs/money"}, "$ref": {"type": "string"}, "tree": {"$ref": "#"}},
            "$defs": {"money": {"const": {"$ref": "#/untouched"}}},
        }
    )
    whole = schema.response_format["json_schema"]["schema"]
    sent = whole["properties"]["value"]["anyOf"][0]
    assert sent["properties"]["default"] == {"$ref": "#/properties/value/anyOf/0/$defs/money"}
    assert sent["properties"]["$ref"] == {"type": "string"}
    assert sent["properties"]["tree"] == {"$ref": "#/properties/value/anyOf/0"}
    assert sent["$defs"]["money"] == {"const": {"$ref": "#/untouched"}}
    assert "$schema" not in sent
    from jsonschema.validators import Draft202012Validator

    money = {"$ref": "#/untouched"}
    told = {"value": {"default": money, "tree": {"default": money}}, "citations": []}
    assert list(Draft202012Validator(whole).iter_errors(told)) == []
    assert list(Draft202012Validator(whole).iter_errors({**told, "value": {"default": 3}}))
