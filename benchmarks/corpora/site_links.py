"""The pages of a folder of HTML that a crawl should find, read without the code of the measured crawl."""

import re
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from lxml import html  # type: ignore[import-untyped]

from benchmarks.corpora.html_site import START
from benchmarks.harness.site_server import file_at

_ENDINGS = (".html", ".htm", ".xhtml")
_AT_ONCE = re.compile(r"\s*0*(?:\.0*)?\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
"""A refresh after 0 seconds, which is a redirect, and its target."""


def reachable(folder: Path) -> dict[str, Path]:
    """Return the HTML pages to which links lead from `index.html`, itself included: decoded path and file.

    Links lead where browsers take them; rel=nofollow is obeyed. A page that refreshes to another one at once is a link
    to it and no page.

    Raises:
        FileNotFoundError: there is no `index.html`.
    """
    start = file_at(folder, f"/{START}")
    if start is None:
        raise FileNotFoundError(f"{folder} holds no {START}, with which a crawl could begin")
    found = {f"/{START}": start}
    left = [f"/{START}"]
    redirects = set()
    while left:
        page = left.pop()
        links, is_redirect = _links(page, found[page].read_bytes())
        if is_redirect:
            redirects.add(page)
        for path in links:
            file = file_at(folder, path) if path not in found else None
            if file is not None and file.suffix.lower() in _ENDINGS:
                found[path] = file
                left.append(path)
    return {path: file for path, file in found.items() if path not in redirects}


def _links(page: str, content: bytes) -> tuple[list[str], bool]:
    """Return the decoded paths on the same host that a page links to, and whether it refreshes to one at once."""
    if not content.strip():
        return [], False
    tree = html.fromstring(content)
    base = urljoin(f"http://site{page}", next(iter(tree.xpath("//base/@href")), ""))
    targets = [
        refresh[1]
        for meta in tree.xpath("//meta[@http-equiv and @content]")
        if meta.get("http-equiv").strip().lower() == "refresh" and (refresh := _AT_ONCE.match(meta.get("content")))
    ]
    links = [link for link in tree.xpath("//a[@href] | //area[@href]") if "nofollow" not in link.get("rel", "")]
    urls = (urlsplit(urljoin(base, href.strip())) for href in [*targets, *(link.get("href") for link in links)])
    return [unquote(url.path) for url in urls if url.netloc == "site"], bool(targets)
