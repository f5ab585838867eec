"""Which links lead to another page of the same list."""

import pytest

from sourcebook.web.pagination import continues

LIST = "https://a.example/list"


@pytest.mark.parametrize(
    ("page", "link"),
    [
        (LIST, f"{LIST}?page=2"),
        (f"{LIST}?page=2", f"{LIST}?page=31"),
        (f"{LIST}?page=2", LIST + "?page=1"),
        (f"{LIST}?sort=asc&p=2", f"{LIST}?p=3&sort=asc"),
        (f"{LIST}?offset=20", f"{LIST}?offset=40"),
        (LIST, f"{LIST}/page/2"),
        (f"{LIST}/", f"{LIST}/page/2/"),
        (f"{LIST}/page/2/", f"{LIST}/page/3/"),
        ("https://a.example/news-7.html", "https://a.example/news-8.html"),
    ],
)
def test_pages_of_one_list(page: str, link: str) -> None:
    assert continues(page, link)


@pytest.mark.parametrize(
    ("page", "link"),
    [
        (LIST, "https://a.example/item/2"),
        (LIST, f"{LIST}/2025/2"),
        (f"{LIST}?page=2", f"{LIST}?page=2&sort=desc"),
        (f"{LIST}?page=2&sort=asc", f"{LIST}?page=3&sort=desc"),
        (LIST, f"{LIST}?id=2"),
        ("https://a.example/item/4", "https://a.example/item/90"),
        ("https://a.example/2024/5", "https://a.example/2025/6"),
    ],
)
def test_other_links(page: str, link: str) -> None:
    assert not continues(page, link)


def test_what_the_page_calls_its_next_one_is_the_next_one() -> None:
    assert continues(LIST, "https://a.example/archive-b", ["https://a.example/archive-b"])
