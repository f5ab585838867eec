"""Values of the fields of records."""

from typing import Any

import pytest

from sourcebook.records.values import is_set, value_of, words_of


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
