"""llms.txt: a site's Markdown list of its pages (https://llmstxt.org)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sourcebook.parsing.text.decode import decode
from sourcebook.web.url import normal_form

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_CHARACTERS = 1_000_000
"""Characters that are searched for links, in about a second. Only an llms-full.txt is larger."""

_HEAD = 65_536
_NAME = re.compile(r"llms(?:[-_.][\w.-]+)?\.(?:txt|md)", re.IGNORECASE)
_MARKUP = re.compile(r"\s*<(?:!doctype|\?xml|html|head|body|script)\b", re.IGNORECASE)
_HEADING_OR_LINK = re.compile(r"^ {0,3}#{1,6} \S|\[[^\]\n]{1,200}\]\([^)\s]", re.MULTILINE)
_BARE_URL = re.compile(r"https?://[^\s<>\"'`]{1,2000}", re.IGNORECASE)


def looks_like_llms(body: bytes, url: str) -> bool:
    """Return whether a body is an llms.txt or llms-full.txt.

    Name and content must agree: any README has a heading and links, and many sites answer an unknown name with an HTML
    page. The Content-Type is ignored.

    Args:
        body: body of the response.
        url: URL of the response, after redirects.
    """
    if not _NAME.fullmatch(urlsplit(url).path.rpartition("/")[2]):
        return False
    head = decode(body[:_HEAD]).text
    return not _MARKUP.match(head) and _HEADING_OR_LINK.search(head) is not None


def links_of(markdown: str, base_url: str) -> list[str]:
    """Return the links of a Markdown text in normal form, in order and without repetition.

    Bare URLs count as links; images, broken links and URLs in code do not.

    Args:
        markdown: the text, searched up to `MOST_CHARACTERS`.
        base_url: base of relative links.
    """
    found: dict[str, None] = {}
    for block in _parser().parse(markdown[:MOST_CHARACTERS]):
        for link in _links(block.children or ()):
            url = normal_form(link, base_url) if link else None
            if url is not None:
                found[url] = None
    return list(found)


def _links(tokens: tuple[Token, ...] | list[Token]) -> Iterator[str]:
    linked = False
    for token in tokens:
        if token.type == "link_open":
            linked = True
            yield str(token.attrs["href"])
        elif token.type == "link_close":
            linked = False
        elif token.type == "text" and not linked and "://" in token.content:
            for bare in _BARE_URL.findall(token.content):
                yield _without_closing(bare)


def _without_closing(url: str) -> str:
    """Remove the punctuation of the sentence around a bare URL."""
    url = url.rstrip(".,;:!?*_~|")
    while url.endswith((")", "]")) and url.count(url[-1]) > url.count("(" if url[-1] == ")" else "["):
        url = url[:-1].rstrip(".,;:!?")
    return url


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable("html_inline")
