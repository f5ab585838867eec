"""Pages under a URL with repeated slashes, which most servers treat as one slash."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

from sourcebook.parsing.html.cleaner import CleanedPage
from sourcebook.web.http_types import FetchError, Response

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
