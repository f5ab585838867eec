"""The redirects of one crawl: how many lead to a URL, and whether they go round in a circle."""

from sourcebook.web.http_types import Response

MOST_REDIRECTS = 10
"""Redirects followed in a row."""
SETTLED = 6
"""Attempts, over about an hour, after which a temporary redirect counts as permanent; earlier it may be maintenance."""
_FOR_NOW = frozenset({302, 303, 307})


class RedirectTrail:
    """Remembers every redirect of a crawl."""

    def __init__(self) -> None:
        self._targets: dict[str, str] = {}
        self._hops: dict[str, int] = {}

    def follow(self, url: str, target: str) -> str | None:
        """Record a redirect; return the reason not to follow it, None where there is none."""
        self._targets[url] = target
        self._hops[target] = min(self._hops.get(url, 0) + 1, self._hops.get(target, MOST_REDIRECTS + 1))
        if self._hops[target] > MOST_REDIRECTS:
            return f"the redirects that lead here are more than {MOST_REDIRECTS}"
        if self._leads_back(url):
            return f"its redirects go round in a circle, by {target}"
        return None

    def _leads_back(self, url: str) -> bool:
        following = self._targets.get(url)
        for _ in range(MOST_REDIRECTS):
            if following is None or following == url:
                break
            following = self._targets.get(following)
        return following == url


def temporary_status(response: Response) -> int | None:
    """Return the status of a redirect that holds only for now, None for a permanent one."""
    return response.status if response.status in _FOR_NOW else None
