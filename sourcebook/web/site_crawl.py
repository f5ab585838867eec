"""The crawl of one site with everything that it needs: HTTP client, browser, politeness."""

from concurrent.futures import Executor
from contextlib import AsyncExitStack
from pathlib import Path

from sourcebook.model.progress import Progress
from sourcebook.web.browser.site_renderer import SiteRenderer
from sourcebook.web.crawl import Crawl, CrawlFrontier
from sourcebook.web.crawl_result import CrawlResult
from sourcebook.web.discovery import Discovery
from sourcebook.web.emptying import EmptyingGuard
from sourcebook.web.fetch_times import FetchTimes, TimedFetcher, TimedRenderer
from sourcebook.web.fetching.addresses import AddressGuard
from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.fetcher import HttpFetcher
from sourcebook.web.fetching.politeness import HostLimiter
from sourcebook.web.http_types import FetchError
from sourcebook.web.outcome import FoundUrl
from sourcebook.web.patience import Patience
from sourcebook.web.session import Session
from sourcebook.web.site import Site
from sourcebook.web.url import host_of, normal_form
from sourcebook.web.visit import Visitor


async def crawl_site(
    site: Site,
    frontier: CrawlFrontier,
    discovery: Discovery,
    start: str,
    *,
    database: Executor,
    cleaners: Executor,
    folder: Path,
    progress: Progress,
    force: bool = False,
    trusts_lastmod: bool = True,
    patience: Patience | None = None,
    emptying: EmptyingGuard | None = None,
) -> CrawlResult:
    """Visit the queued URLs of a site.

    Args:
        site: the site.
        frontier: its URLs.
        discovery: URL selection.
        start: URL of the site in normal form.
        database: executor of one thread, the only one that uses the frontier.
        cleaners: executor that cleans pages.
        folder: folder for the files of crawl4ai.
        progress: called with the numbers of finished, known and failed URLs.
        force: whether requests are unconditional.
        trusts_lastmod: whether pages that the sitemap declares unchanged are not requested.
        patience: says when the crawl pauses; never where None.
        emptying: holds back the loss of many pages; none where None.

    Raises:
        LoginError: the login that the settings ask for failed; no page was requested.
    """
    settings = site.settings
    guard = AddressGuard(settings)
    limiter = HostLimiter(settings.politeness.requests_per_second)
    times = FetchTimes()
    async with AsyncExitStack() as stack:
        fetcher = await stack.enter_async_context(HttpFetcher(settings, guard=guard))
        breaker = CircuitBreaker()
        session = Session(settings, host_of(start), fetcher, limiter, breaker)
        await session.begin()
        renderer = await stack.enter_async_context(SiteRenderer(settings, guard, limiter, folder, session.state))
        session.when_renewed(renderer.begin_again)
        visitor = Visitor(
            settings,
            discovery,
            fetcher=TimedFetcher(fetcher, times),
            renderer=TimedRenderer(renderer, times),
            limiter=limiter,
            breaker=breaker,
            session=session,
            cleaners=cleaners,
            keep=site.keep,
            force=force,
            redaction=site.redaction_identity,
        )
        lists = await _lists(visitor, discovery, start)
        crawl = Crawl(
            site,
            frontier,
            database,
            visitor,
            times,
            discovery,
            progress,
            trusts_lastmod=trusts_lastmod,
            patience=patience,
            emptying=emptying,
        )
        return await crawl.run(lists)


async def _lists(visitor: Visitor, discovery: Discovery, start: str) -> tuple[FoundUrl, ...]:
    """Return the sitemaps and the llms.txt of a site that is configured by its host alone."""
    if not start.endswith(f"://{host_of(start)}/"):
        return ()
    try:
        sitemaps = (await visitor.rules.of(start)).sitemaps
    except FetchError:
        return ()  # the start URL fails for the same reason, with a message
    urls = [normal_form(url, start) for url in (*sitemaps, "/llms.txt")]
    return discovery.lists([url for url in urls if url is not None])
