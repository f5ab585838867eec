"""crawl4ai over a list of URLs: its HTTP strategy, its lxml scraping, its Markdown.

    python -m benchmarks.peers.crawl4ai_pages URLS OUT CONCURRENCY PART

URLS holds a URL a line. PART is `main`, the main content by its PruningContentFilter, or `whole`, the page with its
navigation. OUT gets a line of JSON for each page with text. It prints seconds, the import of crawl4ai included, and the
number of pages.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO


def main() -> None:
    urls = Path(sys.argv[1]).read_text(encoding="utf-8").split()
    with Path(sys.argv[2]).open("w", encoding="utf-8") as out:
        started = time.perf_counter()
        pages = asyncio.run(crawl(urls, out, int(sys.argv[3]), main_content=sys.argv[4] == "main"))
        seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "pages": pages}))


async def crawl(urls: list[str], out: TextIO, concurrency: int, *, main_content: bool) -> int:
    """Write the Markdown of each page; return the number of pages with text."""
    from crawl4ai import (  # type: ignore[import-untyped]
        AsyncWebCrawler,
        BrowserConfig,
        CacheMode,
        CrawlerRunConfig,
        DefaultMarkdownGenerator,
        LXMLWebScrapingStrategy,
        PruningContentFilter,
    )
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy  # type: ignore[import-untyped]

    strategy = AsyncHTTPCrawlerStrategy(max_connections=concurrency)
    settings = CrawlerRunConfig(
        cache_mode=CacheMode.BYPASS,
        check_robots_txt=True,
        markdown_generator=DefaultMarkdownGenerator(content_filter=PruningContentFilter() if main_content else None),
        scraping_strategy=LXMLWebScrapingStrategy(),
        verbose=False,
    )
    waiting, pages = iter(urls), 0

    async def work(crawler: Any, waiting: Iterator[str]) -> None:
        nonlocal pages
        for url in waiting:
            result = await crawler.arun(url, config=settings)
            if not result.success:
                continue
            text = result.markdown.fit_markdown if main_content else result.markdown.raw_markdown
            if text.strip():
                out.write(json.dumps({"url": url, "text": text}) + "\n")
                pages += 1

    async with AsyncWebCrawler(crawler_strategy=strategy, config=BrowserConfig(verbose=False)) as crawler:
        await asyncio.gather(*(work(crawler, waiting) for _ in range(concurrency)))
    return pages


if __name__ == "__main__":
    main()
