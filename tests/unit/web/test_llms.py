"""llms.txt is told from a page, and its links are found."""

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.web.lists.llms import MOST_CHARACTERS, links_of, looks_like_llms

BASE = "https://h.example/docs/llms.txt"
LLMS = b"# Project\n\n> What it is.\n\n## Docs\n\n- [Guide](/guide.md): how to begin\n"


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("https://h.example/llms.txt", LLMS),
        ("https://h.example/docs/LLMS.txt?x=1", LLMS),
        ("https://h.example/llms-full.txt", b"<SYSTEM>All of it.</SYSTEM>\n\n# Guide\n\nText.\n"),
        ("https://h.example/llms-small.txt", b"\xef\xbb\xbf# Guide"),
        ("https://h.example/llms.txt", "# Projekt\n".encode("utf-16")),
        ("https://h.example/llms.txt", b"- [Guide](/guide)\n"),
        ("https://h.example/llms-ctx.txt", b"---\ntitle: x\n---\n# Guide\n"),
    ],
)
def test_llms_is_recognised(url: str, body: bytes) -> None:
    """A name of the family, and Markdown with a heading or a link."""
    assert looks_like_llms(body, url)


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("https://h.example/README.md", LLMS),
        ("https://h.example/", LLMS),
        ("https://h.example/llms.txt/", LLMS),
        ("https://h.example/about-llms.txt", LLMS),
        ("https://h.example/x?f=/llms.txt", LLMS),
        ("https://h.example/llms.txt", b"<!DOCTYPE html><html><body># No\n[a](b)"),
        ("https://h.example/llms.txt", b"\n <html>\n# x"),
        ("https://h.example/llms.txt", b"<?xml version='1.0'?>\n# x"),
        ("https://h.example/llms.txt", b""),
        ("https://h.example/llms.txt", b"Not found"),
        ("https://h.example/llms.txt", b"User-agent: *\nDisallow: /\n#comment"),
    ],
)
def test_pages_are_not_llms(url: str, body: bytes) -> None:
    """Neither a README elsewhere, nor a start page or an error page under this name."""
    assert not looks_like_llms(body, url)


@pytest.mark.parametrize(
    ("markdown", "links"),
    [
        ("- [A](https://other.example/a): text", ["https://other.example/a"]),
        (
            "- [A](/a.md)\n- [B](b.md)\n- [C](../c.md)",
            [f"https://h.example/{p}" for p in ("a.md", "docs/b.md", "c.md")],
        ),
        ("[A](/a) [again](/a#part) [and](https://H.example/a?utm_source=x)", ["https://h.example/a"]),
        ("[A](</a b.md>)", ["https://h.example/a%20b.md"]),
        ('[A](/a "title (x)")', ["https://h.example/a"]),
        ("[A](/wiki/A_(b))", ["https://h.example/wiki/A_(b)"]),
        ("[A][ref]\n\n[ref]: /a", ["https://h.example/a"]),
        ("<https://h.example/a>", ["https://h.example/a"]),
        ("[![badge](/badge.png)](/a)", ["https://h.example/a"]),
        ("> - **[A](/a)**\n>   1. [B](/b)", ["https://h.example/a", "https://h.example/b"]),
        ("# [A](/a)", ["https://h.example/a"]),
        ("- Guide: https://h.example/a.", ["https://h.example/a"]),
        ("(see https://h.example/a_(b)), **https://h.example/c**", ["https://h.example/a_(b)", "https://h.example/c"]),
        ("[https://h.example/text](/a)", ["https://h.example/a"]),
        ("[M](mailto:a@h.example) [J](javascript:alert(1)) [D](data:text/html,x)", []),
        ("[A](http://h:99999/) [B](https://) [C](http://u:p@h/) [D]() [E](<>)", []),
        ("[A](a b) [B](/b [C]( [D] [E][none]", []),
        ("`[A](/a)` and ![image](/i.png)", []),
        ("```\n[A](/a)\nhttps://h.example/a\n```\n\n    [B](/b)\n", []),
        ("[A](https://h.example/a&amp;b)", ["https://h.example/a&b"]),
        ("", []),
    ],
)
def test_links_are_found(markdown: str, links: list[str]) -> None:
    """Links of every form in their order, once, resolved; broken ones, images and code are left out."""
    assert links_of(markdown, BASE) == links


def test_only_the_beginning_of_a_huge_text_is_searched() -> None:
    """A text without end does not take time without end."""
    assert links_of("[A](/a)\n\n" + " \n" * (MOST_CHARACTERS // 2) + "\n[B](/b)", BASE) == ["https://h.example/a"]


HOSTILE = {
    "brackets": "[" * 20_000,
    "unfinished links": "[a](" * 5000,
    "unfinished images": "![" * 5000,
    "angles": "<" * 50_000,
    "closed and closed": "https://a" + ")" * 50_000,
    "quotes": ">" * 20_000,
    "stress": "*a_" * 4000,
    "lists": "- " * 20_000,
    "backticks": "".join("`" * number + " " for number in range(300)),
    "references": "[a]: x\n" * 5000,
    "schemes": "https://" * 8000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_markdown_is_read_in_bounded_time(text: str) -> None:
    """No nesting or repetition is read in more than linear time."""
    began = process_time()
    links_of(text, BASE)
    assert process_time() - began < 5


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_urls(text: str) -> None:
    """Whatever stands there, what comes out is http or https, and no URL twice."""
    links = links_of(text, BASE)
    assert all(link.startswith(("http://", "https://")) for link in links)
    assert len(set(links)) == len(links)
