"""A visit of a browser to a page: its events, its readiness, and its result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urldefrag, urlsplit

from sourcebook.config.browser import BrowserSettings
from sourcebook.errors import FailureClass
from sourcebook.web.browser.page_actions import IsolatedWorld, PageActions
from sourcebook.web.browser.page_errors import NET_ERROR, net_error, no_page, timed_out, too_large, unknown
from sourcebook.web.browser.page_traffic import HEADERS_OF_THE_TRANSFER, OwnHeaders, PageTraffic
from sourcebook.web.browser.proxy import BrowserProxy
from sourcebook.web.http_types import FetchError, Response

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Page, Request
    from playwright.async_api import Response as Answer

POLL_SECONDS: Final = 0.1
QUIET_SECONDS: Final = 0.3
"""Seconds without a change of text or network activity after which a page with text is ready."""
EMPTY_SECONDS: Final = 2.0
"""Seconds without activity after which a page with little text is ready; its scripts may start late."""
RESTLESS_SECONDS: Final = 3.0
"""Seconds after which a page with text is ready where only its text or only the network is still."""
LONGEST_SECONDS: Final = 10.0
"""Seconds after which a page is read in any state."""
_LITTLE_TEXT: Final = 100
_WATCH_SECONDS: Final = 1.0
_MOST_NAVIGATIONS: Final = 10

_AWAITED: Final = frozenset({"document", "script", "xhr", "fetch"})
_PAGES: Final = frozenset({"", "text/html", "application/xhtml+xml"})

# The layout of a page that is too large can take long, so its text is measured first.
_SHOWN_TEXT: Final = """(most => {
    const text = document.documentElement ? document.documentElement.textContent.length : 0;
    return text > most ? -1 : document.body ? document.body.innerText.trim().length : 0;
})(%d)"""
_SIZE: Final = "document.documentElement ? document.documentElement.outerHTML.length : 0"
_IS_FRAMESET: Final = "document.body instanceof HTMLFrameSetElement"


class PageVisit:
    """State of a page during a visit."""

    def __init__(
        self,
        url: str,
        proxy: BrowserProxy,
        *,
        max_bytes: int,
        seconds: float,
        own: OwnHeaders,
        browser: BrowserSettings | None = None,
    ) -> None:
        """Prepare a visit, whose time begins now.

        Args:
            url: URL of the page.
            proxy: proxy of the browser, which knows the reasons of failed connections.
            max_bytes: limit on the serialized page.
            seconds: seconds after which the page is read, ready or not.
            own: headers for requests to the site.
            browser: the actions on the page before it is read.
        """
        self.page: Page | None = None
        self.crashed = False
        self._url = url
        self._proxy = proxy
        self._max_bytes = max_bytes
        self._seconds = seconds
        self.deadline = asyncio.get_running_loop().time() + seconds
        self.actions: PageActions | None = None
        self._own = own
        self._browser = browser
        self._devtools: CDPSession | None = None
        self._world: IsolatedWorld | None = None
        self._answers: dict[str, Answer] = {}
        self._document: Answer | None = None
        self._last_target = url
        self._broken: str | None = None
        self._navigations = 0
        self._downloads = False
        self._awaited: set[Request] = set()
        self._network_moved = asyncio.get_running_loop().time()
        self._traffic: PageTraffic | None = None

    async def begin(self, page: Page) -> None:
        """Attach to a page before it loads."""
        self.page = page
        for name, listener in self._listeners().items():
            page.on(name, listener)  # type: ignore[call-overload] # Playwright has an overload for each name
        self._devtools = await page.context.new_cdp_session(page)
        frames = await self._devtools.send("Page.getFrameTree")
        self._world = IsolatedWorld(self._devtools, frames["frameTree"]["frame"]["id"])
        self._traffic = PageTraffic(page, self._devtools, self._own)
        await self._traffic.begin()
        if self._browser is not None and self._browser.changes_pages:
            still, seconds = self._until_still, self._seconds
            self.actions = PageActions(self._browser, page, self._world, self._traffic, still, seconds=seconds)

    async def check_document(self) -> None:
        """Check the loaded document before waiting for its scripts.

        Raises:
            NotAPageError: the document is no HTML.
            FetchError: the proxy refused the request.
        """
        self._raise_if_refused()
        media_type = self._headers().get("content-type", "").partition(";")[0].strip().lower()
        if media_type not in _PAGES:
            raise no_page(f"the browser was given {media_type}, not a page")
        if await self._evaluate(_IS_FRAMESET):
            raise no_page("it is a set of frames, which has no text of its own")

    async def settle(self) -> None:
        """Wait until text and network are still, at most until the deadline.

        Raises:
            FetchError: the page exceeds the size limit.
        """
        await self._until_still()
        await self._check_size()

    async def _until_still(self, least_seconds: float = 0) -> None:
        clock = asyncio.get_running_loop().time
        begun = text_moved = clock()
        end = min(begun + LONGEST_SECONDS, self.deadline)
        shown: int | None = None
        while clock() < end and not (self.page is None or self.page.is_closed()):
            self._raise_if_lost()
            found = await self._evaluate(_SHOWN_TEXT % self._max_bytes)
            now = clock()
            if found == -1:
                raise too_large(self._max_bytes)
            if found is None or found != shown:
                shown, text_moved = found, now
            network_still = 0.0 if self._awaited else now - self._network_moved
            text_still = now - text_moved
            has_text = (shown or 0) > _LITTLE_TEXT
            quiet = max(QUIET_SECONDS if has_text else EMPTY_SECONDS, least_seconds)
            if min(text_still, network_still) >= quiet:
                break
            if has_text and max(text_still, network_still) >= RESTLESS_SECONDS:
                break
            await asyncio.sleep(POLL_SECONDS)

    async def watch(self) -> None:
        """Wait for an event that makes the page unreadable.

        Raises:
            FetchError: the page is too large, has crashed, was cut off, or navigates endlessly.
        """
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            self._raise_if_lost()
            await self._check_size()

    def response(self, html: str) -> Response:
        """Return the rendered page as a response.

        Args:
            html: serialized DOM.

        Raises:
            FetchError: the document is incomplete, or is no document of a server.
        """
        self._raise_if_refused()
        self._raise_if_lost()
        body = html.encode("utf-8", "replace")
        if len(body) > self._max_bytes:
            raise too_large(self._max_bytes)
        final_url = "" if self.page is None else self.page.url
        if urlsplit(final_url).scheme not in {"http", "https"} or self._document is None:
            raise FetchError(
                "the page has left the web by a script", transient=False, failure_class=FailureClass.UNSUPPORTED
            )
        if self.actions is not None:
            final_url = self.actions.url_of(final_url)
        return self._answer(self._document, body, final_url)

    def explain(self, error: BaseException) -> Response:
        """Return the response of a page that the browser could not show.

        Args:
            error: error of the browser.

        Returns:
            A response without a body, for which a browser shows no page.

        Raises:
            FetchError: in all other cases, with the reason.
        """
        if isinstance(error, FetchError):
            raise error
        self._raise_if_refused()
        message = str(error)
        last = next(reversed(self._answers.values()), None)
        self.crashed |= "crashed" in message
        self._raise_if_lost()
        if self.actions is not None:
            self.actions.explain(error)
        if self._downloads or "Download is starting" in message:
            raise no_page("the URL starts a download") from error
        code = NET_ERROR.search(message)
        if code is None and ("Timeout" in message or isinstance(error, TimeoutError)):
            raise self.timed_out() from error
        if last is not None and code and code[1] in {"ERR_HTTP_RESPONSE_CODE_FAILURE", "ERR_ABORTED"}:
            if code[1] == "ERR_HTTP_RESPONSE_CODE_FAILURE" or last.status in {204, 205}:
                return self._answer(last, b"", last.url)
            raise no_page("the URL leads to no page") from error
        if code is not None:
            raise self._lost(code[1]) from error
        raise unknown(message or type(error).__name__) from error

    def timed_out(self) -> FetchError:
        """Return the error for a page that took too long."""
        return timed_out(answered=bool(self._answers))

    @property
    def uneventful(self) -> bool:
        """Whether no event of the page may affect a later page in its tab."""
        opened = self._traffic is None or self._traffic.opened
        return not (self.crashed or self._broken or self._downloads or opened or self._navigations > 1)

    async def end(self) -> None:
        """Cancel the tasks of this visit."""
        if self._traffic is not None:
            await self._traffic.end()

    async def leave_tab(self) -> CDPSession:
        """Stop the page and detach the listeners; return the DevTools session that holds it, to be detached later.

        Navigating to an empty page instead would end the renderer process, and a new process is the largest cost.
        """
        assert self.page is not None  # noqa: S101 - `begin` comes first
        assert self._devtools is not None  # noqa: S101
        for name, listener in self._listeners().items():
            self.page.remove_listener(name, listener)
        if self._traffic is not None:
            await self._traffic.stop()
        await self._devtools.send("Emulation.setScriptExecutionDisabled", {"value": True})
        return self._devtools

    def _listeners(self) -> dict[str, Callable[[Any], None]]:
        return {
            "request": self._on_request,
            "requestfinished": self._on_end,
            "requestfailed": self._on_failure,
            "response": self._on_response,
            "framenavigated": self._on_navigation,
            "crash": self._on_crash,
            "download": self._on_download,
        }

    def _answer(self, answer: Answer, body: bytes, final_url: str) -> Response:
        headers = {name: value for name, value in answer.headers.items() if name not in HEADERS_OF_THE_TRANSFER}
        media_type = headers.get("content-type", "").partition(";")[0].strip() or "text/html"
        return Response(
            self._url,
            answer.status,
            {**headers, "content-type": f"{media_type}; charset=utf-8"},
            body,
            rendered=True,
            final_url=None if final_url == self._url else final_url,
        )

    def _headers(self) -> dict[str, str]:
        return {} if self._document is None else self._document.headers

    def _raise_if_refused(self) -> None:
        """Raise the proxy's error where the page is the proxy's own response or missing."""
        last = next(reversed(self._answers.values()), None)
        if last is not None and last.url == self._last_target and last.status not in {400, 403, 502, 503}:
            return
        parts = urlsplit(self._last_target)
        with suppress(ValueError):
            failure = self._proxy.failure(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
            if failure is not None:
                raise failure

    def _raise_if_lost(self) -> None:
        if self.crashed:
            raise FetchError("the page crashed in the browser", transient=True, failure_class=FailureClass.CRASH)
        if self._broken and self._document is not None:
            raise self._lost(self._broken)
        if self._navigations > _MOST_NAVIGATIONS:
            raise FetchError(
                "the page navigates to other pages endlessly", transient=False, failure_class=FailureClass.SERVER
            )

    def _lost(self, code: str) -> FetchError:
        """Return the error of a page whose connection broke off, which the proxy does where a page is too large."""
        cut_off = self._proxy.cut_off(urldefrag(self._last_target)[0])
        return too_large(self._max_bytes) if cut_off else net_error(self._last_target, code)

    async def _check_size(self) -> None:
        if (await self._evaluate(_SIZE) or 0) > self._max_bytes:
            raise too_large(self._max_bytes)

    async def _evaluate(self, expression: str) -> Any:
        return None if self._world is None or self.crashed else await self._world.evaluate(expression)

    def _is_main(self, request: Request) -> bool:
        from playwright.async_api import Error

        try:
            return request.is_navigation_request() and self.page is not None and request.frame == self.page.main_frame
        except Error:  # of a frame that does not exist yet or any more
            return False

    def _on_request(self, request: Request) -> None:
        if self._is_main(request):
            self._last_target, self._broken = request.url, None
            self._navigations += request.redirected_from is None
        if request.resource_type in _AWAITED:
            self._awaited.add(request)

    def _on_end(self, request: Request) -> None:
        if request in self._awaited:
            self._awaited.discard(request)
            self._network_moved = asyncio.get_running_loop().time()

    def _on_failure(self, request: Request) -> None:
        self._on_end(request)
        reason = request.failure or ""
        if self._is_main(request) and "ERR_ABORTED" not in reason:
            self._broken = reason.removeprefix("net::")

    def _on_response(self, answer: Answer) -> None:
        if self._is_main(answer.request):
            self._answers.pop(answer.url, None)
            self._answers[answer.url] = answer

    def _on_navigation(self, frame: Frame) -> None:
        if self.page is not None and frame == self.page.main_frame:
            self._document = self._answers.get(urldefrag(frame.url)[0], self._document)

    def _on_crash(self, _: Page) -> None:
        self.crashed = True

    def _on_download(self, _: object) -> None:
        self._downloads = True
