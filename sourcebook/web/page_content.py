"""Stored content of a response: an HTML page or a linked document."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from sourcebook.model.content_hash import content_hash
from sourcebook.model.media_types import (
    CSV,
    DOCX,
    HTML,
    MARKDOWN,
    PDF,
    PLAIN_TEXT,
    PPTX,
    XLSX,
    media_type_of_name,
)
from sourcebook.parsing.html.cleaner import CleanedPage
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.web.http_types import Response
from sourcebook.web.outcome import PageContent
from sourcebook.web.url import host_of, normal_form

DOCUMENT_TYPES = frozenset({HTML, PDF, DOCX, PPTX, XLSX, MARKDOWN, PLAIN_TEXT, CSV})
"""Media types that a crawl stores."""

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_TEXTS = frozenset({PLAIN_TEXT, MARKDOWN, CSV})


def media_type_of(response: Response) -> str:
    """Return the media type of a response from its content, else from its URL, else from its Content-Type.

    The header comes last because servers send pages as text/plain and PDFs as any type.
    """
    name = unquote(urlsplit(response.url).path).rsplit("/", 1)[-1]
    # `index.php` is a page, not a program.
    found = detect_media_type(name if media_type_of_name(name) in DOCUMENT_TYPES else "", response.body[:4096])
    if response.rendered or (found in {PLAIN_TEXT, HTML} and response.media_type in _HTML_TYPES):
        return HTML
    if found == PLAIN_TEXT and response.media_type in _TEXTS:
        return response.media_type
    return found


def page_of(response: Response, media_type: str, cleaned: CleanedPage | None) -> PageContent:
    """Return the content to store: the text of a cleaned HTML page, the bytes of any other document."""
    # Validators of a rendered page concern only its shell, so they cannot confirm its content.
    headers = {} if response.rendered else response.headers
    if cleaned is None:
        return PageContent(
            status=response.status,
            media_type=media_type,
            sha256=hashlib.sha256(response.body).digest(),
            size=len(response.body),
            etag=headers.get("etag"),
            last_modified=headers.get("last-modified"),
            content=response.body,
        )
    return PageContent(
        status=response.status,
        media_type=HTML,
        sha256=content_hash(cleaned.markdown, cleaned.blocks, cleaned.title),
        size=len(response.body),
        etag=headers.get("etag"),
        last_modified=headers.get("last-modified"),
        title=cleaned.title,
        language=cleaned.language,
        metadata=cleaned.metadata,
        canonical_url=_canonical(cleaned, response.url),
        markdown=cleaned.markdown,
        blocks=cleaned.blocks,
        links=tuple(normal_links(cleaned.links)),
        rendered=response.rendered,
    )


def normal_links(links: Iterable[str]) -> list[str]:
    """Return the links in normal form, in order and without repetition."""
    return list(dict.fromkeys(link for link in map(_normal_link, links) if link is not None))


@lru_cache(maxsize=65_536)
def _normal_link(link: str) -> str | None:
    """Cached, because menus repeat their links on every page."""
    return normal_form(link)


def _canonical(cleaned: CleanedPage, url: str) -> str | None:
    """Return the canonical URL of a page where it is another URL of its host."""
    canonical = normal_form(cleaned.canonical) if cleaned.canonical else None
    return canonical if canonical not in {None, url} and host_of(canonical or "") == host_of(url) else None
