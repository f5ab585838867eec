"""Texts and values as the database can hold them."""

import json
import math

import pytest

from sourcebook.model.storable import storable_mapping, storable_text, storable_value


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("plain", "plain"),
        ("a\0b", "a\ufffdb"),
        ("a\ud800b\udfff", "a\ufffdb\ufffd"),
        ("\U0001f600 \ufffe\uffff\u202e", "\U0001f600 \ufffe\uffff\u202e"),
    ],
)
def test_each_character_that_cannot_be_stored_is_replaced_in_its_place(text: str, stored: str) -> None:
    assert storable_text(text) == stored
    stored.encode()


def test_values_that_json_does_not_have_become_texts() -> None:
    values = {
        "nul\0": "\0",
        "half": ["\ud800", ("tuple", {"deep": "\0"})],
        "numbers": [math.nan, math.inf, -math.inf, 1e308, 10**400, 2**70, -(10**5000)],
        "flags": [True, None],
    }
    stored = storable_mapping(values)
    assert json.loads(json.dumps(stored, allow_nan=False)) == stored
    assert stored["nul\ufffd"] == "\ufffd"
    assert stored["half"] == ["\ufffd", ["tuple", {"deep": "\ufffd"}]]
    assert stored["numbers"] == ["nan", "inf", "-inf", 1e308, hex(10**400), 2**70, hex(-(10**5000))]
    assert stored["flags"] == [True, None]


def test_what_is_nested_too_deeply_is_cut_off() -> None:
    deep: object = "flag"
    for _ in range(900):
        deep = [deep]
    stored = json.dumps(storable_value(deep))
    assert "flag" not in stored
    assert stored.count("[") == 100
