"""Settings that decide what belongs to a site have changed: apply them to what is known already."""

from sourcebook.web.discovery import Discovery
from sourcebook.web.frontier import Frontier
from sourcebook.web.outcome import FoundUrl


def rescope(frontier: Frontier, discovery: Discovery) -> int:
    """Take out what no longer belongs to the site, and add what its pages link to and now does.

    Nothing is fetched for it. Returns how many pages left.
    """
    outside = [
        (number, url)
        for number, url, depth, role in frontier.urls()
        if role == "page" and not (discovery.scope.takes(url) and depth <= discovery.max_depth)
    ]
    removed = frontier.remove(outside)
    found: list[FoundUrl] = []
    for url, depth, links in frontier.page_links():
        found += discovery.links(url, depth, links)
    frontier.add(found)
    return removed
