"""Soft 404s: pages that say, with status 200, that there is nothing at their address."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from uuid import uuid4

from sourcebook.parsing.html.cleaner import CleanedPage
from sourcebook.web.canonicals import says_the_same
from sourcebook.web.http_types import FetchError, Response
from sourcebook.web.outcome import ClaimedUrl
from sourcebook.web.url import host_of

MOST_WORDS = 200
"""Words of a page that may say that there is nothing."""
_SHORTEST_NAME = 8
"""Characters of a path that stands in a text by no chance."""
_NOTHING = re.compile(
    r"\b404\b|not (?:be )?found|n[o']t (?:find|exist)|no longer (?:exist|available)|nicht (?:gefunden|vorhanden)"
    r"|introuvable|no (?:se ha )?encontrad|não encontrad|non (?:è stata )?trovat|niet gevonden|hittades inte"
    r"|nie znaleziono|не найден|не існує|bulunamadı|未找到|找不到|見つかりません|찾을 수 없",
    re.IGNORECASE,
)
"""Words of such pages, which make a page worth a request of a random address."""


class SoftNotFound:
    """Compares pages with what their host answers to an address that nobody has made.

    A host is asked once, when a short page has the words of such pages, or the text of another one.

    Args:
        fetch: returns the response of a URL, None where it may not be requested.
        clean: returns the content of an HTML response.
    """

    def __init__(
        self,
        fetch: Callable[[str], Awaitable[Response | None]],
        clean: Callable[[Response], Awaitable[CleanedPage]],
    ) -> None:
        self._fetch = fetch
        self._clean = clean
        self._turn = asyncio.Lock()
        self._answers: dict[str, str | None] = {}
        self._first: dict[int, ClaimedUrl] = {}
        self.earlier: list[ClaimedUrl] = []
        """Pages that were stored before another one with their text showed what they are."""

    async def is_one(self, claimed: ClaimedUrl, page: CleanedPage) -> bool:
        """Return whether a page says what its host says of any address."""
        text = _text(page, claimed.url)
        if claimed.is_start or len(text.split()) > MOST_WORDS:
            return False
        first = self._first.setdefault(hash(text), claimed)
        if first is claimed and not _NOTHING.search(text):
            return False
        answer = await self._answer(claimed.url)
        if answer is None or not (says_the_same(text, answer) and says_the_same(answer, text)):
            return False
        if first is not claimed and not _NOTHING.search(text):
            self.earlier.append(first)
            self._first[hash(text)] = claimed
        return True

    async def _answer(self, url: str) -> str | None:
        """Return the text with which a host answers a random address; None where it says that it is none."""
        host = host_of(url)
        async with self._turn:
            if host not in self._answers:
                self._answers[host] = await self._ask(f"{url.partition('://')[0]}://{host}/{uuid4().hex}")
        return self._answers[host]

    async def _ask(self, url: str) -> str | None:
        try:
            response = await self._fetch(url)
            if response is None or response.status != 200 or "html" not in response.media_type:
                return None
            return _text(await self._clean(response), url)
        except FetchError:
            return None


def _text(page: CleanedPage, url: str) -> str:
    """Return title and text of a page without its address, which such pages repeat."""
    path = "/" + url.split("/", 3)[-1]
    text = f"{page.title or ''}\n{page.markdown}".replace(url, "").replace(path, "")
    return text.replace(path[1:], "") if len(path) > _SHORTEST_NAME else text
