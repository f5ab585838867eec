"""Pages made to cost much are read in time that grows with their size, and in memory that does."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

import pytest

from sourcebook.parsing.dates import split_date_lines
from sourcebook.parsing.fences import unfenced_spans
from sourcebook.parsing.html.cleaner import clean_page

MOST_SECONDS = 20
"""Processor time that none of these pages needs a tenth of; each took minutes."""


@contextmanager
def in_time() -> Iterator[None]:
    started = time.process_time()
    yield
    assert time.process_time() - started < MOST_SECONDS


@pytest.mark.parametrize(
    "html",
    [
        "<!DOCTYPE[" * 150_000,
        f"<title>{'a - ' * 250_000}</title><h1>x</h1>",
        '<meta name="robots" content="follow">' * 200_000,
        "<div>" * 300 + "<x </" * 150_000,
        "&lt;b" * 200_000,
        "<p>- - " + "- " * 200_000 + "x<p>" + "1. " * 200_000 + "<p>" + "```<p>" * 50_000,
    ],
    ids=["document types", "separators", "directives for robots", "tags that do not end", "text like tags", "marks"],
)
def test_a_page_of_one_thing_again_and_again(html: str) -> None:
    with in_time():
        clean_page(f"{html}<p>deep".encode(), url="https://site.example/")


def test_a_list_of_many_items() -> None:
    """None of which is a date."""
    markdown = "- item one\n" * 400_000
    with in_time():
        assert split_date_lines(markdown) == (markdown, {})


def test_fences_that_nothing_closes() -> None:
    """Each looks for its own end."""
    signs = ["".join(each) for each in product(["> ", ">"], repeat=16)]
    markdown = "".join(f"{sign}```x\n\n" for sign in signs)
    with in_time():
        assert list(unfenced_spans(markdown)) == [(0, len(markdown))]
        assert split_date_lines(markdown) == (markdown, {})


def test_a_base_of_many_characters_is_none() -> None:
    """Otherwise each link of the page would repeat it."""
    links = "".join(f"<a href=p{number}>Page</a> " for number in range(2_000))
    page = clean_page(f'<base href="/{"a" * 100_000}/">{links}'.encode(), url="https://site.example/")
    assert page.links[:2] == ("https://site.example/p0", "https://site.example/p1")
    assert len(page.markdown) < 100_000


@pytest.mark.parametrize(
    ("markdown", "outside"),
    [
        ("a\n```x\ncode\n```\nb", "a\n|\nb"),
        ("```\ncode\n````\nmore\n```\nb", "|\nb"),
        ("> ```\n> code\n> ```  \nb", "|\nb"),
        ("```\nno end", "```\nno end"),
        ("````\nno end\n```\ncode\n```\n", "````\nno end\n|\n"),
        ("a ``` b", "a ``` b"),
    ],
)
def test_a_fence_ends_at_one_that_is_its_like(markdown: str, outside: str) -> None:
    assert "|".join(markdown[start:end] for start, end in unfenced_spans(markdown)) == outside
