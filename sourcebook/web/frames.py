"""Fetching of a page's frames, within the site and within limits."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from functools import partial

from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass
from sourcebook.model.media_types import HTML
from sourcebook.parsing.html.frames import Frame, FrameHead, read_frame_head
from sourcebook.web.discovery import Discovery
from sourcebook.web.fetching.host_rules import HostRules
from sourcebook.web.http_types import FetchError, Request, Response
from sourcebook.web.outcome import MOST_REDIRECTS
from sourcebook.web.page_content import media_type_of
from sourcebook.web.url import normal_form

MOST_FRAMES = 20
"""Frames of a page that are requested, those within its frames included."""
DEEPEST_FRAME = 3
"""Frames within frames."""
_REMEMBERED = 32
"""Frames kept in memory, because many pages show the same one; together they have at most `request.max_bytes`."""

_Read = tuple[Frame, FrameHead]


class FrameReader:
    """Reads the frames of pages that belong to the site: its hosts, its patterns, its robots.txt.

    Args:
        settings: settings of the site.
        discovery: URL selection of the site.
        rules: robots.txt of each host.
        fetch: one request, with its retries.
        cleaners: executor for the parsing of HTML.
    """

    def __init__(
        self,
        settings: SiteSource,
        discovery: Discovery,
        rules: HostRules,
        fetch: Callable[[Request], Awaitable[Response]],
        cleaners: Executor,
    ) -> None:
        self._settings = settings
        self._discovery = discovery
        self._rules = rules
        self._fetch = fetch
        self._cleaners = cleaners
        self._remembered: OrderedDict[str, _Read | None] = OrderedDict()
        self._bytes = 0

    def wanted(self, urls: Sequence[str]) -> tuple[str, ...]:
        """Return the URLs that belong to the site."""
        return tuple(url for url in urls if self._belongs(normal_form(url)))

    async def read(self, page: str, urls: Sequence[str], *, patient: bool) -> dict[str, Frame]:
        """Return the frames of a page and of its frames, by the URL that names them.

        A frame is left out that the site does not include, robots.txt forbids, is no HTML, or asks not to be indexed.

        Args:
            page: URL of the page in normal form.
            urls: absolute URLs of its frames.
            patient: whether trouble that may pass fails the page, so that it is retried; else the frame is left out.

        Raises:
            FetchError: a frame could not be fetched for now.
        """
        found: dict[str, Frame] = {}
        waiting = deque((url, 1) for url in urls)
        asked = {page}
        size = 0
        while waiting and len(asked) <= MOST_FRAMES:
            named, depth = waiting.popleft()
            url = normal_form(named)
            if url is None or url in asked:
                continue
            asked.add(url)
            read = await self._read(url, patient=patient)
            if read is None or size + len(read[0].body) > self._settings.request.max_bytes:
                continue
            frame, head = read
            size += len(frame.body)
            found[named] = frame
            if depth < DEEPEST_FRAME:
                waiting.extend((inner, depth + 1) for inner in head.frames)
        return found

    async def _read(self, url: str, *, patient: bool) -> _Read | None:
        if url in self._remembered:
            self._remembered.move_to_end(url)
            return self._remembered[url]
        try:
            read = await self._follow(url)
        except FetchError as error:
            if patient and (error.transient or error.retry_after is not None):
                raise FetchError(
                    f"its frame {url} is missing: {error}",
                    failure_class=error.failure_class,
                    transient=error.transient,
                    retry_after=error.retry_after,
                    answered=error.answered,
                ) from error
            return None
        self._remember(url, read)
        return read

    def _remember(self, url: str, read: _Read | None) -> None:
        """Keep a frame for other pages, in place of those that were used longest ago."""
        self._bytes += _size(read) - _size(self._remembered.pop(url, None))
        self._remembered[url] = read
        while len(self._remembered) > _REMEMBERED or self._bytes > self._settings.request.max_bytes:
            self._bytes -= _size(self._remembered.popitem(last=False)[1])

    async def _follow(self, url: str) -> _Read | None:
        """Return a frame after its redirects, None where it is left out."""
        target: str | None = url
        for _ in range(MOST_REDIRECTS + 1):
            if target is None or not self._belongs(target) or not await self._rules.allow(target):
                return None
            url = target
            response = await self._fetch(Request(url))
            if 300 <= response.status < 400:
                target = normal_form(response.headers.get("location", ""), url)
                continue
            if response.status >= 500:
                raise FetchError(
                    f"the server answers {response.status}", transient=True, failure_class=FailureClass.SERVER
                )
            if not 200 <= response.status < 300 or media_type_of(response) != HTML:
                return None
            frame = Frame(url, response.body, response.headers.get("content-type", ""))
            head = await asyncio.get_running_loop().run_in_executor(self._cleaners, partial(read_frame_head, frame))
            if head.redirect is None or normal_form(head.redirect) == url:
                return self._as_asked(response, frame, head)
            target = normal_form(head.redirect)
        return None

    def _as_asked(self, response: Response, frame: Frame, head: FrameHead) -> _Read | None:
        """Apply the directives for robots of a frame, in its header and its HTML."""
        asked = self._rules.asked_by(response, head)
        if "noindex" in asked:
            return None
        return Frame(frame.url, frame.body, frame.content_type, "nofollow" not in asked), head

    def _belongs(self, url: str | None) -> bool:
        return url is not None and self._discovery.scope.takes(url)


def _size(read: _Read | None) -> int:
    return 0 if read is None else len(read[0].body)
