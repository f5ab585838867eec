"""scrapy over the links of a site, with trafilatura for the text of its pages.

    python scrapy_pages.py URL OUT CONCURRENCY

It needs nothing but the packages of scrapy_requirements.txt, so that it runs in a virtual environment of its own. OUT
gets a line of JSON for each page with text. It prints seconds, the import of both libraries included, and the number of
pages.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit


def main() -> None:
    with Path(sys.argv[2]).open("w", encoding="utf-8") as out:
        started = time.perf_counter()
        pages = crawl(sys.argv[1], out, int(sys.argv[3]))
        seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "pages": pages}))


def crawl(start: str, out: TextIO, concurrency: int) -> int:
    """Write the Markdown of each page below a URL; return the number of pages with text."""
    from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found]
    from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found]
    from scrapy.spiders import CrawlSpider, Rule  # type: ignore[import-not-found]
    from trafilatura import extract  # type: ignore[import-not-found]

    pages = 0

    class Pages(CrawlSpider):  # type: ignore[misc] # scrapy is not installed where types are checked
        name = "pages"
        start_urls = (start,)
        allowed_domains = (urlsplit(start).hostname,)
        rules = (Rule(LinkExtractor(allow=r"(?:/|\.html?)(?:[?#]|$)"), "read", follow=True),)

        def parse_start_url(self, response: Any, **_: Any) -> None:
            self.read(response)

        def read(self, response: Any) -> None:
            nonlocal pages
            if text := extract(response.text, url=response.url, output_format="markdown"):
                out.write(json.dumps({"url": response.url, "text": text}) + "\n")
                pages += 1

    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": concurrency,
            "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
            "DOWNLOAD_DELAY": 0,
            "LOG_ENABLED": False,
            "ROBOTSTXT_OBEY": True,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Pages)
    process.start()
    return pages


if __name__ == "__main__":
    main()
