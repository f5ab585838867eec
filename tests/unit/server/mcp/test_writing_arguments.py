"""Arguments of the tools that add: the settings that they stand for, and what is refused in a sentence."""

from typing import Any

import pytest
from pydantic import ValidationError

from sourcebook.config.sites import SiteSource
from sourcebook.server.mcp.writing_arguments import CrawlArguments, IngestArguments, RemoveSourceArguments


def test_arguments_of_a_crawl_are_settings_of_a_site() -> None:
    asked = CrawlArguments(
        url="https://docs.example.com/",
        max_pages=7,
        max_depth=2,
        follow_links=True,
        include_patterns=["/docs/**"],
        exclude_patterns=["/docs/old/**"],
        js_enabled=True,
        rate=0.5,
        batch_size=2,
        scope="same_domain",
        refresh="12h",
        tags=["docs"],
        private_networks=["10.0.0.0/8"],
    )
    site = SiteSource.model_validate({"url": asked.url, **asked.settings})
    assert (site.max_pages, site.max_depth, site.follow_links, site.render) == (7, 2, True, "always")
    assert (site.include, site.exclude) == (("/docs/**",), ("/docs/old/**",))
    assert (site.politeness.requests_per_second, site.politeness.concurrency) == (0.5, 2)
    assert (site.scope, site.refresh.total_seconds(), site.tags) == ("same_domain", 12 * 3600, ("docs",))
    assert str(site.request.private_networks[0]) == "10.0.0.0/8"
    assert CrawlArguments(url="https://docs.example.com/").settings == {}
    assert CrawlArguments(url="https://a.example/", js_enabled=False).settings == {"render": "never"}


@pytest.mark.parametrize(
    ("kind", "sent", "said"),
    [
        (CrawlArguments, {"url": "https://a.example/", "respect_robots_txt": False}, "keeps the rules of the site"),
        (IngestArguments, {"path": "/a", "documents": [{"name": "a", "text": "b"}]}, "not both"),
        (IngestArguments, {"paths": ["/a", "/b"], "title": "A"}, "a title is for one document"),
    ],
)
def test_what_is_refused_says_why(kind: type[Any], sent: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        kind.model_validate(sent)


def test_places_are_named_by_either_word() -> None:
    assert IngestArguments.model_validate({"folder": "/a", "paths": ["/b", "/a"]}).places == ["/a", "/b"]
    assert RemoveSourceArguments.model_validate({"path": "/a"}).location == "/a"
