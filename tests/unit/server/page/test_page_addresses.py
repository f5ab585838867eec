"""Addresses and names on pages."""

import re
from dataclasses import replace

import pytest

from sourcebook.contract.search_results import SearchResult
from sourcebook.server.page.found_on_page import readable, source_address
from sourcebook.server.page.rendering import address, short_type, short_uri, shown_uri, web_address
from sourcebook.server.page.script_texts import STATIC


@pytest.mark.parametrize(
    "text",
    [
        *("javascript:canary()", "JAVASCRIPT://a.example/%0acanary()", "data:text/html,a", "file:///etc/passwd"),
        *("//a.example", "/local", "https:", "https:/a", "http://[", "https://a.example/\nb", "vbscript:a", "", None),
    ],
)
def test_only_addresses_of_the_web_become_links(text: str | None) -> None:
    assert web_address(text) is None


def test_an_address_of_the_web_stays_as_it_is() -> None:
    assert web_address("https://a.example/b?c=d&e=f#g") == "https://a.example/b?c=d&e=f#g"


def test_addresses_hold_what_is_asked_and_nothing_empty() -> None:
    asked = {"q": "a&b ü", "tag": ["x", "y"], "kind": [], "all": ""}
    assert address("/", asked) == "/?q=a%26b+%C3%BC&tag=x&tag=y"
    assert address("/", asked, q="", tag=None) == "/"
    assert address("/", {"q": "\ud800"}) == "/?q=%3F"


def test_files_are_named_by_their_path() -> None:
    assert shown_uri("file:///a/b%20c/d%3Ce.md") == "/a/b c/d<e.md"
    assert short_uri("file:///a/b%20c/d%3Ce.md") == "b c/d<e.md"
    assert short_uri("https://a.example/b%20c") == "https://a.example/b%20c"
    assert (short_type("text/markdown"), short_type("application/x-other")) == ("md", "application/x-other")


def test_a_source_opens_at_its_page_second_or_anchor() -> None:
    hit = SearchResult(1, "c", "https://a.example/b", "t", (), "part", None, None, None, 0, "x", 1.0, None, None, 1)
    assert source_address(hit) == "https://a.example/b#part"
    assert source_address(replace(hit, page=3, media_type="application/pdf")) == "https://a.example/b#page=3"
    assert source_address(replace(hit, start_seconds=75.4, end_seconds=80.2)) == "https://a.example/b#t=75,81"
    assert source_address(replace(hit, uri="https://a.example/b#old")) == "https://a.example/b#part"
    assert source_address(replace(hit, uri="file:///b.md")) is None
    assert (
        source_address(replace(hit, uri="file:///b.md", link="https://git.example/b.md"))
        == "https://git.example/b.md#part"
    )


def test_the_scripts_of_each_page_are_small_and_the_vendored_one_has_its_licence() -> None:
    templates = {each.name: each.read_text(encoding="utf-8") for each in (STATIC.parent / "templates").glob("*.html")}
    block = re.compile(r"{% block scripts %}(.*?){% endblock %}", re.DOTALL)
    (usual,) = block.findall(templates["base.html"])
    of_all = set(re.findall(r"static\('([a-z.-]+\.js)'\)", block.sub("", templates["base.html"])))
    assert of_all == {"page.js"}
    for name, template in templates.items():
        of_page = " ".join(block.findall(template) or [usual]).replace("{{ super() }}", usual)
        loaded = of_all | set(re.findall(r"static\('([a-z.-]+\.js)'\)", of_page))
        assert sum((STATIC / each).stat().st_size for each in loaded) <= 60_000, (name, loaded)
    assert "Zero-Clause BSD" in (STATIC / "htmx.LICENSE").read_text(encoding="utf-8")


def test_snippets_read_as_text() -> None:
    assert readable("## Keys\n\nFive keys hang in\nthe **house**.\n- one\n- two") == (
        "Keys\nFive keys hang in the house.\n- one\n- two"
    )
    assert readable("of\n") == "of "
