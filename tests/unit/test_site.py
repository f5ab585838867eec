"""The documentation site is built without the network, asks no other host, and has the search of a server."""

import re
from pathlib import Path

import pytest

from release.running import ReleaseError
from release.site import build_site


def test_the_site_is_whole(tmp_path: Path) -> None:
    """Every page is there, no link leads nowhere, nothing is fetched from elsewhere, and the widget stands in each."""
    build_site(tmp_path, "https://kb.example/", "sb_key", "https://docs.example/")
    pages = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.html")}
    assert {"configuration.html", "commands.html", "errors.html", "tutorial.html"} <= pages.keys()
    script = '<script src="https://kb.example/widget.js" data-key="sb_key" defer></script>'
    assert [name for name, page in pages.items() if page.count(script) != 1] == []
    fetched = re.compile(
        r'<(?:script|img|iframe)[^>]*src="https?://|<link[^>]*rel="(?:stylesheet|preconnect)[^>]*"https?://'
    )
    assert [name for name, page in pages.items() if fetched.search(page.replace(script, ""))] == []
    assert 'media="(prefers-color-scheme: dark)"' in pages["tutorial.html"].replace("data-md-color-media", "media")
    assert 'id="filesmax_bytes"' in pages["configuration.html"]
    assert "<code>--mode hybrid|vector|keyword</code>" in pages["commands.html"]
    listed = re.findall(
        r"\]\(https://docs\.example/([\w-]+\.md)\)", (tmp_path / "llms.txt").read_text(encoding="utf-8")
    )
    assert {"configuration.md", "tutorial.md"} <= set(listed)
    assert [name for name in listed if not (tmp_path / name).exists()] == []


@pytest.mark.parametrize("link", ["gone.md", "other.md#gone", "#gone"])
def test_a_link_that_leads_nowhere_ends_the_build(tmp_path: Path, link: str) -> None:
    """A page, an anchor of another page and one of the same page that are not there are each named."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "other.md").write_text("# Other\n\nText.\n", encoding="utf-8")
    (docs / "page.md").write_text(f"# Page\n\nSee [this]({link}).\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"page\.md"):
        build_site(tmp_path / "site", docs=docs)
    assert not (tmp_path / "site").exists()
