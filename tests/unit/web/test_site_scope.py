"""A site's scope takes what its settings name, and nothing else."""

from typing import Any

import pytest

from sourcebook.config.sites import SiteSource
from sourcebook.web.site_scope import SiteScope

START = "https://docs.example.com/"


def scope(start: str = START, **settings: Any) -> SiteScope:
    return SiteScope.of(SiteSource(url=start, **settings), start)


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("https://docs.example.com/", True),
        ("http://docs.example.com/a/b?c=1", True),
        ("https://docs.example.com/.well-known/x", True),
        ("https://docs.example.com:8443/", False),
        ("https://example.com/", False),
        ("https://evil-docs.example.com/", False),
        ("https://docs.example.com.evil.example/", False),
        ("https://evil.example/docs.example.com/", False),
        ("ftp://docs.example.com/", False),
        ("mailto:a@docs.example.com", False),
        ("", False),
    ],
)
def test_same_host(url: str, taken: bool) -> None:
    """One host in both schemes, with its port."""
    assert scope().takes(url) is taken


@pytest.mark.parametrize(
    ("start", "url", "taken"),
    [
        ("https://docs.example.co.uk/", "https://www.example.co.uk/x", True),
        ("https://docs.example.co.uk/", "http://example.co.uk:8080/x", True),
        ("https://docs.example.co.uk/", "https://other.co.uk/x", False),
        ("https://alice.github.io/", "https://bob.github.io/", False),
        ("https://alice.github.io/", "https://docs.alice.github.io/", True),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8001/", True),
        ("http://127.0.0.1:8000/", "http://127.0.0.2:8000/", False),
    ],
)
def test_same_domain(start: str, url: str, taken: bool) -> None:
    """All hosts of what somebody registered, but not of those who share a provider."""
    assert scope(start, scope="same_domain").takes(url) is taken


def test_host_that_the_start_redirects_to() -> None:
    """A further host joins the scope; the first stays, and the old scope is as it was."""
    narrow = scope("https://example.com/")
    wide = narrow.with_host("www.example.com")
    assert wide.takes("https://www.example.com/a")
    assert wide.takes("https://example.com/a")
    assert not narrow.takes("https://www.example.com/a")


@pytest.mark.parametrize(
    ("include", "path", "taken"),
    [
        ("/docs/**", "/docs/", True),
        ("/docs/**", "/docs", True),
        ("/docs/**", "/docs/a/b.html", True),
        ("/docs/**", "/docs/.hidden/b", True),
        ("/docs/**", "/docs2/", False),
        ("/docs/**", "/", False),
        ("/docs/*", "/docs/a", True),
        ("/docs/*", "/docs/a/b", False),
        ("/docs/*.html", "/docs/a.html", True),
        ("/docs/*.html", "/docs/a/b.html", False),
        ("/{docs,blog}/**", "/blog/x", True),
        ("/{docs,blog}/**", "/shop/x", False),
        ("/**/*.html", "/a.html", True),
        ("**/guide/**", "/en/guide/x", True),
        ("/größe/**", "/gr%C3%B6%C3%9Fe/x", True),
        ("/a b/*", "/a%20b/c", True),
        ("/Docs/**", "/docs/x", False),
        ("docs/", "/docs/x", True),
        ("/a/**", "/a/b%0Ac", True),
        ("/a/**", "/a/%FF", True),
    ],
)
def test_include_globs(include: str, path: str, taken: bool) -> None:
    """Globs are compared with the decoded path; the query does not matter."""
    narrowed = scope(include=[include])
    assert narrowed.takes(f"https://docs.example.com{path}") is taken
    assert narrowed.takes(f"https://docs.example.com{path}?q=/docs/x.html") is taken


@pytest.mark.parametrize(
    ("exclude", "path", "taken"),
    [
        ("/old", "/old", False),
        ("/old", "/old/", False),
        ("/old", "/old/a/b", False),
        ("/old/", "/old/a", False),
        ("/old/**", "/old", False),
        ("/old", "/older", True),
        ("/old", "/new/old", True),
        ("**/old", "/new/old/x", False),
        ("/*.html", "/a.html", False),
        ("/*.html", "/a/b.html", True),
        ("/.git", "/.git/config", False),
        ("/%6Fld", "/old/x", True),
        ("/old", "/%6Fld/x", False),
    ],
)
def test_exclude_wins_and_takes_folders_whole(exclude: str, path: str, taken: bool) -> None:
    """What is excluded is out with all below it, though it is included."""
    assert scope(exclude=[exclude]).takes(f"https://docs.example.com{path}") is taken


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a",
        "/a/",
        "/wiki/Foo.bar",
        "/package/lxml.etree",
        "/v1.2",
        "/release-3.14.0",
        "/a.html",
        "/a.HTM",
        "/index.php",
        "/page.aspx",
        "/cgi-bin/view.pl",
        "/report.pdf",
        "/report.docx",
        "/table.csv",
        "/notes.md",
        "/llms.txt",
        "/wiki/Node.js",
        "/wiki/ASP.NET",
        "/sites/example.com",
        "/crates/docs.rs",
        "/packages/DataFrames.jl",
        "/get.sh",
        "/whats.app",
        "/reference/dockerfile",
        "/guide/makefile",
        "/api/java.lang.Class",
        "/kernel.org",
        "/images.zip/",
        "/logo.png/view",
        "/download?file=x.zip",
        "/.env",
    ],
)
def test_pages_are_followed(path: str) -> None:
    """A dot in a name is no file type, and what may be a page is asked for."""
    assert scope().follows(f"https://docs.example.com{path}")


NEVER_READ = """
png JPG svg webp avif ico mp3 mp4 webm zip tar.gz 7z whl exe dmg iso woff woff2 css json xml yaml toml py ts java doc
xls odt epub eml sqlite parquet p%6Eg png?size=2
"""


@pytest.mark.parametrize("ending", NEVER_READ.split())
def test_files_that_are_never_read_are_not_followed(ending: str) -> None:
    """Images, archives, media, programs, source code and old office formats cost no request."""
    url = f"https://docs.example.com/file.{ending}"
    assert not scope().follows(url)
    assert scope().takes(url)


def test_follows_only_what_it_takes() -> None:
    """A good ending does not make up for another host or an excluded path."""
    narrowed = scope(exclude=["/old"])
    assert not narrowed.follows("https://example.com/a.html")
    assert not narrowed.follows("https://docs.example.com/old/a.html")
    assert not narrowed.follows("mailto:a.html")
