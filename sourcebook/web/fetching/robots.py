"""Rules of robots.txt (RFC 9309) and directives of X-Robots-Tag."""

from dataclasses import dataclass

from protego import Protego

from sourcebook.parsing.text.decode import decode

MOST_BYTES = 500 * 1024
"""Bytes of a robots.txt that are read: the minimum of RFC 9309."""

_TOO_MANY_REQUESTS = 429
_LONGEST_INTERVAL = 10**9
"""Seconds of a Request-rate that count: its numbers may be larger than any float."""


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one host for one user agent."""

    crawl_delay: float | None = None
    """Seconds between requests: the longer of Crawl-delay and Request-rate."""
    sitemaps: tuple[str, ...] = ()
    """Sitemap URLs as written in the file; they should be absolute."""
    unavailable: bool = False
    """Whether the rules could not be read (*unreachable* in RFC 9309), so that requests must wait."""
    _parsed: Protego | None = None
    _agent: str = ""

    def allowed(self, url: str) -> bool:
        """Return whether a URL may be fetched.

        Raises:
            ValueError: the rules could not be read.
        """
        if self.unavailable:
            raise ValueError("nothing is known to be allowed while robots.txt is unavailable")
        return self._parsed is None or self._parsed.can_fetch(url, self._agent)


UNAVAILABLE = RobotsRules(unavailable=True)
"""Rules of an unreachable host."""


def tag_directives(header: str, user_agent: str) -> frozenset[str]:
    """Return the directives `noindex` and `nofollow` of an X-Robots-Tag header; `none` stands for both.

    Args:
        header: its value, several joined with commas; a part may start with the name of an agent.
        user_agent: value of the header User-Agent.
    """
    agent = user_agent.partition("/")[0].strip().lower()
    found: set[str] = set()
    meant = True
    for part in header.lower().split(","):
        named, colon, directive = part.partition(":")
        if colon and named.strip() != "unavailable_after":
            meant = named.strip() == agent  # applies to the following parts, up to the next agent
            part = directive
        if meant:
            found |= {"noindex", "nofollow"} if part.strip() == "none" else {part.strip()}
    return frozenset(found & {"noindex", "nofollow"})


def rules_of(status: int, body: bytes, user_agent: str) -> RobotsRules:
    """Return the rules in the response to the request for `/robots.txt`.

    No rules apply where the file is missing, locked (401, 403; see RFC 9309) or behind endless redirects. A server
    error or a 429 makes the rules unavailable.

    Args:
        status: the HTTP status, after redirects.
        body: decompressed; read up to `MOST_BYTES`.
        user_agent: value of the header User-Agent, whose part before the slash selects the rules.
    """
    if status < 200 or status >= 500 or status == _TOO_MANY_REQUESTS:
        return UNAVAILABLE
    if status >= 300:
        return RobotsRules()
    if len(body) > MOST_BYTES:
        # A rule that is cut off would be another rule.
        body = body[:MOST_BYTES].rpartition(b"\n")[0]
    parsed = Protego.parse(decode(body).text)
    agent = user_agent.partition("/")[0].strip()
    delays = [] if (delay := parsed.crawl_delay(agent)) is None else [delay]
    if (rate := parsed.request_rate(agent)) is not None:
        delays.append(min(rate.seconds, _LONGEST_INTERVAL) / rate.requests)
    return RobotsRules(
        crawl_delay=max(delays, default=None),
        sitemaps=tuple(dict.fromkeys(parsed.sitemaps)),
        _parsed=parsed,
        _agent=agent,
    )
