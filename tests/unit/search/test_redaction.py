"""Redaction of logged queries: what identifies or opens is replaced, what people look for stays."""

import pytest

from sourcebook.search.query_redaction import MOST_CHARACTERS, redacted


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("who is ana.lopez+x@mail.example.org?", "who is [e-mail]?"),
        ("clone https://ana:pa55@git.example.org/a.git", "clone https://[secret]@git.example.org/a.git"),
        ("login with Password: hunter2 fails", "login with Password: [secret] fails"),
        ("api_key=abc123 refused", "api_key=[secret] refused"),
        ("Authorization: Bearer abc.def-123 gives 401", "Authorization: [secret] gives 401"),
        ("why is ghp_16C7e42F292c6912E7710c838347Ae178B4a rejected", "why is [secret] rejected"),
        ("key AKIAIOSFODNN7EXAMPLE leaked", "key [secret] leaked"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.s5c invalid", "[secret] invalid"),
        ("session 3f2b8c1e-9a4d-4e5f-8b7a-1c2d3e4f5a6b expired", "session [secret] expired"),
        ("call +49 (30) 1234-567 now", "call [number] now"),
        ("card 4454 7945 1139 0933", "card [number]"),
        ("transfer to GB29 NWBK 6016 1331 9268 19 failed", "transfer to [number] failed"),
        ("two\n lines", "two lines"),
    ],
)
def test_what_identifies_or_opens_is_replaced(query: str, kept: str) -> None:
    assert redacted(query) == kept


@pytest.mark.parametrize(
    "query",
    [
        "how long do the batteries last",
        "token bucket rate limit",
        "test_every_option_of_a_search_is_in_the_docs",
        "report-2024-final.pdf",
        "LM317T 1N4007 SM-1250-50",
        "error 404 in 3.11.4 since 2024",
        "https://docs.example.org/guide#install",
    ],
)
def test_what_people_look_for_stays(query: str) -> None:
    assert redacted(query) == query


def test_a_long_query_is_cut_after_its_redaction() -> None:
    """A cut in the middle of a number does not leave its beginning."""
    assert redacted("x" * (MOST_CHARACTERS - 4) + " 4454794511390933").endswith("[nu")
