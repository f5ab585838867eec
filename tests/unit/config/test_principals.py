"""Principals: persons and groups."""

import pytest

from sourcebook.config.principals import LONGEST, MOST, parse_principal, principal_set


@pytest.mark.parametrize(
    ("text", "principal"),
    [
        ("user:anna@example.org", "user:anna@example.org"),
        (" USER:Anna ", "user:Anna"),
        ("Group:Vorstand, extern", "group:Vorstand, extern"),
        ("group:a:b", "group:a:b"),
        ("Everyone", "everyone"),
        ("user:Zoe\u0308", "user:Zo\u00eb"),
        ("group:\u05d4\u05e0\u05d4\u05dc\u05d4", "group:\u05d4\u05e0\u05d4\u05dc\u05d4"),
        ("user:" + "x" * (LONGEST - 5), "user:" + "x" * (LONGEST - 5)),
    ],
)
def test_a_principal_has_one_spelling_in_which_the_case_of_the_name_is_kept(text: str, principal: str) -> None:
    assert parse_principal(text) == principal
    assert parse_principal(principal) == principal


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "anna",
        "user:",
        "user: anna",
        "role:board",
        "everyone:",
        "everyone:else",
        ":anna",
        "user:a\0b",
        "user:a\nb",
        "user:a\u2028b",
        "user:a\ud800",
        "user:\x7fb",
        "user:" + "x" * LONGEST,
        "us\u0435r:anna",  # a Cyrillic letter
    ],
)
def test_what_is_no_principal_is_refused_with_a_sentence_that_can_be_printed(text: str) -> None:
    with pytest.raises(ValueError, match="principal") as refused:
        parse_principal(text)
    assert str(refused.value).isprintable()
    str(refused.value).encode("ascii")


def test_everyone_is_among_the_principals_of_each_caller() -> None:
    assert principal_set([]) == {"everyone"}
    assert principal_set(["user:a", "USER:a", "group:b"]) == {"everyone", "user:a", "group:b"}


def test_a_caller_has_no_more_than_twenty_thousand_principals() -> None:
    assert len(principal_set(f"group:{n}" for n in range(MOST - 1))) == MOST
    with pytest.raises(ValueError, match="at most 20,000 principals"):
        principal_set(f"group:{n}" for n in range(MOST))
