"""Repeated slashes in a path."""

import pytest

from sourcebook.web.page_content import single_slashed


@pytest.mark.parametrize(
    ("url", "single"),
    [
        ("https://a.example//b.html", "https://a.example/b.html"),
        ("https://a.example/src///b/c//?x=//y", "https://a.example/src/b/c/?x=//y"),
        ("https://a.example/b", None),
        ("https://a.example/", None),
        ("https://a.example/web/2020/https://b.example/c", None),
        ("https://a.example/b?next=//c", None),
    ],
)
def test_single_slashed(url: str, single: str | None) -> None:
    assert single_slashed(url) == single
