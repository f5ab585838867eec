"""URLs of a site that were never requested, by the rule that leaves them out."""

from collections import defaultdict
from collections.abc import Sequence

from sourcebook.web.crawl_report import CrawledUrl
from sourcebook.web.discovery import Discovery
from sourcebook.web.left_out import LeftOut, LeftOutBy, LeftOutLinks


def unrequested_links(
    urls: Sequence[CrawledUrl], discovery: Discovery, by_patterns: Sequence[LeftOut]
) -> tuple[LeftOutLinks, ...]:
    """Return the links of stored pages to the site that are no known URLs, and what the patterns left out.

    Args:
        urls: the known URLs of the site.
        discovery: the rules of its crawl.
        by_patterns: counts of the crawl, which has also seen the URLs of lists, and links of pages that are not stored.
    """
    known = {each.url for each in urls}
    found: defaultdict[LeftOutBy, dict[str, str]] = defaultdict(dict)
    judged: set[str] = set()
    for page in sorted((each for each in urls if each.links), key=lambda each: each.depth):
        for link in page.links or ():
            if link not in known and link not in judged and discovery.is_own_host(link):
                judged.add(link)
                found[discovery.left_out_by(link, page.url, page.depth)][link] = page.url
    counted = {LeftOutBy("patterns", entry.setting, entry.pattern): entry for entry in by_patterns}
    for by, entry in counted.items():
        for url in entry.examples:
            found[by].setdefault(url, "")
    return tuple(
        LeftOutLinks(*by, number=max(len(found[by]), counted[by].urls if by in counted else 0), urls=found[by])
        for by in sorted(found, key=lambda by: (by.rule, by.setting or "", by.pattern or ""))
    )
