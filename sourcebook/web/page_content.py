"""Stored content of a response, and whether a URL with repeated slashes has the same page."""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from urllib.parse import unquote, urlsplit

from sourcebook.model.document import content_hash
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
from sourcebook.web.http_types import FetchError, Response
from sourcebook.web.outcome import PageContent
from sourcebook.web.url import host_of, normal_form, route_form

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


def page_of(response: Response, media_type: str, cleaned: CleanedPage | None, *, is_whole: bool = True) -> PageContent:
    """Return the content to store: the text of a cleaned HTML page, the bytes of any other document.

    Args:
        response: response of the page.
        media_type: its media type.
        cleaned: its text, None for a document other than HTML.
        is_whole: whether no other response was part of the page, as frames are.
    """
    # Validators of a rendered page or of a frameset concern only its shell, so they cannot confirm its content.
    headers = response.headers if is_whole and not response.rendered else {}
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
        sha256=_identity(cleaned, response.url),
        size=len(response.body),
        etag=headers.get("etag"),
        last_modified=headers.get("last-modified"),
        title=cleaned.title,
        language=cleaned.language,
        metadata=cleaned.metadata,
        canonical_url=_canonical(cleaned, response.url),
        markdown=cleaned.markdown,
        blocks=cleaned.blocks,
        links=tuple(normal_links(cleaned.links, routes=response.rendered)),
        rendered=response.rendered,
    )


def normal_links(links: Iterable[str], *, routes: bool = False) -> list[str]:
    """Return the links in normal form, in order and without repetition; those to routes only from a rendered page."""
    found = map(route_form if routes else _normal_link, links)
    return list(dict.fromkeys(link for link in found if link is not None))


@lru_cache(maxsize=65_536)
def _normal_link(link: str) -> str | None:
    """Cached, because menus repeat their links on every page."""
    return normal_form(link)


def _identity(cleaned: CleanedPage, url: str) -> bytes:
    """Return the hash of a page's content, in which links to the page itself have the URL of its host alone.

    So the content is the same under every URL of the page, as `/` and `/index.html`, and with any session id.
    """
    if not cleaned.own_links:
        return content_hash(cleaned.markdown, cleaned.blocks, cleaned.title)
    host = f"//{host_of(url)}"
    starts = [start for start, _ in cleaned.own_links]
    moved = [0, *accumulate(len(host) - (end - start) for start, end in cleaned.own_links)]
    ends = [0, *(end for _, end in cleaned.own_links)]
    texts = (cleaned.markdown[end:start] for end, start in zip(ends, [*starts, len(cleaned.markdown)], strict=True))
    blocks = (
        replace(
            block,
            start=block.start + moved[bisect_left(starts, block.start)],
            end=block.end + moved[bisect_left(starts, block.end)],
        )
        for block in cleaned.blocks
    )
    return content_hash(host.join(texts), blocks, cleaned.title)


def _canonical(cleaned: CleanedPage, url: str) -> str | None:
    """Return the canonical URL of a page where it is another URL of its host."""
    canonical = normal_form(cleaned.canonical) if cleaned.canonical else None
    return canonical if canonical not in {None, url} and host_of(canonical or "") == host_of(url) else None


_ORIGIN_AND_PATH = re.compile(r"(https?://[^/?]+)([^?]*)(.*)", re.DOTALL)
_REPEATED = re.compile(r"(?<!:)/{2,}")


def single_slashed(url: str) -> str | None:
    """Return a URL in normal form with single slashes in its path; None where it has no repeated ones.

    A URL inside the path, as of an archive, keeps its two slashes.
    """
    parts = _ORIGIN_AND_PATH.fullmatch(url)
    if parts is None:
        return None
    path = _REPEATED.sub("/", parts[2])
    return None if path == parts[2] else f"{parts[1]}{path}{parts[3]}"


async def twin_of(
    response: Response,
    fetch: Callable[[str], Awaitable[Response | None]],
    clean: Callable[[Response], Awaitable[CleanedPage]],
) -> str | None:
    """Return the URL with single slashes where it has the same page as a response; otherwise None.

    Some servers tell the two apart, so both are compared: their bytes, or their text without what changes by itself.

    Args:
        response: response of a URL in normal form.
        fetch: returns the response of a URL, None where it may not be requested.
        clean: returns the content of an HTML response.
    """
    url = single_slashed(response.url)
    if url is None or not 200 <= response.status < 300:
        return None
    try:
        other = await fetch(url)
        if other is None or not 200 <= other.status < 300 or other.media_type != response.media_type:
            return None
        if other.body == response.body:
            return url
        if "html" not in response.media_type:
            return None
        first, second = await clean(replace(response, url=url)), await clean(other)
    except FetchError:
        return None
    return url if (first.title, first.markdown) == (second.title, second.markdown) else None
