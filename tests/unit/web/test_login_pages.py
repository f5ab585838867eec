"""Redirects that lead from a document to a login, and those that lead to another document."""

import pytest

from sourcebook.web.login_pages import leads_to_login

_PAGE = "https://www.example.org/handbook"


@pytest.mark.parametrize(
    "target",
    [
        "https://login.example.org/",
        "https://accounts.example.org/handbook",
        "https://id.example.org/?continue=https%3A%2F%2Fwww.example.org%2Fhandbook",
        "https://id.example.org/authorize?scope=openid&redirect_uri=https%3A%2F%2Fwww.example.org",
        "https://id.example.org/login",
        "https://www.example.org/login?next=/handbook",
    ],
)
def test_a_login(target: str) -> None:
    assert leads_to_login(_PAGE, target)


@pytest.mark.parametrize(
    "target",
    [
        "https://id.example.org/handbook",
        "https://id.example.org/wiki/Laut?title=kembali",
        "https://ideas.example.org/?next=2",
        "https://www.example.org/handbook/",
    ],
)
def test_a_document(target: str) -> None:
    """`id.` is also the host of pages in Indonesian."""
    assert not leads_to_login(_PAGE, target)
