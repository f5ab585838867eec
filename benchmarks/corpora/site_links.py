"""The pages of a folder of HTML that a crawl should find, read without the code of the measured crawl."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from lxml import html  # type: ignore[import-untyped]

from benchmarks.corpora.html_site import START
from benchmarks.harness.site_server import file_at

_ENDINGS = (".html", ".htm", ".xhtml")


def reachable(folder: Path) -> dict[str, Path]:
    """Return the HTML pages to which links lead from `index.html`, itself included: decoded path and file.

    Links lead where browsers take them; rel=nofollow is obeyed.

    Raises:
        FileNotFoundError: there is no `index.html`.
    """
    start = file_at(folder, f"/{START}")
    if start is None:
        raise FileNotFoundError(f"{folder} holds no {START}, with which a crawl could begin")
    found = {f"/{START}": start}
    left = [f"/{START}"]
    while left:
        page = left.pop()
        for path in _links(page, found[page].read_bytes()):
            file = file_at(folder, path) if path not in found else None
            if file is not None and file.suffix.lower() in _ENDINGS:
                found[path] = file
                left.append(path)
    return found


def _links(page: str, content: bytes) -> Iterator[str]:
    """Yield the decoded paths on the same host that a page links to."""
    if not content.strip():
        return
    tree = html.fromstring(content)
    base = urljoin(f"http://site{page}", next(iter(tree.xpath("//base/@href")), ""))
    for link in tree.xpath("//a[@href] | //area[@href]"):
        target = urlsplit(urljoin(base, link.get("href").strip()))
        if target.netloc == "site" and "nofollow" not in link.get("rel", ""):
            yield unquote(target.path)
