from pathlib import Path
from statistics import median

import pytest

from benchmarks.corpora.html_site import write_site
from benchmarks.corpora.site_links import reachable


def test_the_same_numbers_give_the_same_pages(tmp_path: Path) -> None:
    """Runs on two machines crawl the same site."""
    one, other = write_site(tmp_path / "one", 25), write_site(tmp_path / "other", 25)
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
    assert [path.relative_to(tmp_path / "one") for path in one] == [
        path.relative_to(tmp_path / "other") for path in other
    ]
    assert [path.stat().st_mtime for path in one] == [path.stat().st_mtime for path in other]


def test_all_pages_can_be_reached_from_the_first(tmp_path: Path) -> None:
    """Else a crawl could not be held to find all."""
    pages = write_site(tmp_path, 70)
    assert pages[0] == tmp_path / "index.html"
    assert len(set(pages)) == 70
    assert sorted(reachable(tmp_path).values()) == sorted(pages)


def test_pages_are_like_those_of_documentation(tmp_path: Path) -> None:
    """Navigation, a sidebar, headings with ids, code, tables; different from each other, of usual sizes."""
    texts = [path.read_text() for path in write_site(tmp_path, 60)]
    assert len(set(texts)) == 60
    assert 8_000 < median(map(len, texts)) < 40_000
    assert all('<nav class="sidebar"' in text and '<h2 id="s' in text for text in texts)
    for mark in ("<table>", '<pre><code class="language-python">', '<span class="k">def</span>', "<ul>"):
        assert sum(mark in text for text in texts) > 10


def test_links_lead_where_browsers_take_them(tmp_path: Path) -> None:
    """Relative to <base>, without fragment and query, to folders too; not off the site, nor where rel=nofollow is."""
    files = {
        "index.html": '<base href="docs/"><a href="a.html#part">a</a><a href="../b%20c.html?x=1">b</a>'
        '<a href="a.html">again</a><a href="http://elsewhere/d.html">d</a><a href="/e.html" rel="nofollow">e</a>'
        '<a href="none.html">none</a><a href="/notes.txt">notes</a><a name="no-link">f</a>',
        "docs/a.html": '<map><area href="folder/"></map><a href="mailto:someone">mail</a>',
        "docs/folder/index.html": "",
        "b c.html": "<a href='index.html'>back</a>",
        "d.html": "",
        "e.html": "",
        "notes.txt": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert set(reachable(tmp_path)) == {"/index.html", "/docs/a.html", "/docs/folder/", "/b c.html"}


def test_a_folder_without_a_first_page_is_refused(tmp_path: Path) -> None:
    """A crawl would find nothing there."""
    with pytest.raises(FileNotFoundError, match=r"holds no index\.html"):
        reachable(tmp_path)
