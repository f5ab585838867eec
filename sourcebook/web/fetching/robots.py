"""What a host's robots.txt asks of us (RFC 9309)."""

from dataclasses import dataclass

from protego import Protego

from sourcebook.parsing.text.decode import decode

MOST_BYTES = 500 * 1024
"""What RFC 9309 asks a crawler to read at least; we read no more."""

_TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one host for one user agent."""

    crawl_delay: float | None = None
    """Seconds from one request to the next, from Crawl-delay or Request-rate, the longer one."""
    sitemaps: tuple[str, ...] = ()
    """As the file names them, which should be absolute URLs."""
    unavailable: bool = False
    """Whether the rules are not known, which means to wait: what RFC 9309 calls *unreachable*."""
    _parsed: Protego | None = None
    _agent: str = ""

    def allowed(self, url: str) -> bool:
        """Return whether a URL may be fetched.

        Raises:
            ValueError: the rules are not known.
        """
        if self.unavailable:
            raise ValueError("nothing is known to be allowed while robots.txt is unavailable")
        return self._parsed is None or self._parsed.can_fetch(url, self._agent)


UNAVAILABLE = RobotsRules(unavailable=True)
"""The rules of a host that could not be reached."""


def tag_directives(header: str, user_agent: str) -> frozenset[str]:
    """Return what an X-Robots-Tag header asks of us: `noindex`, `nofollow`; `none` is both.

    Args:
        header: its value; several are joined with commas. A part may begin with the agent that it is meant for.
        user_agent: as it is sent.
    """
    agent = user_agent.partition("/")[0].strip().lower()
    found: set[str] = set()
    meant = True
    for part in header.lower().split(","):
        named, colon, directive = part.partition(":")
        if colon and named.strip() != "unavailable_after":
            meant = named.strip() == agent  # and so are the parts that follow, up to the next name
            part = directive
        if meant:
            found |= {"noindex", "nofollow"} if part.strip() == "none" else {part.strip()}
    return frozenset(found & {"noindex", "nofollow"})


def rules_of(status: int, body: bytes, user_agent: str) -> RobotsRules:
    """Return the rules that an answer to the request for `/robots.txt` gives.

    Anything but a success or a sign of trouble means that there are no rules: a missing file, one that is locked
    (401, 403; so RFC 9309 says), redirects without end. A server's error means that they are not known, and so does
    429, which asks to wait.

    Args:
        status: the HTTP status, after redirects.
        body: decompressed; what is over `MOST_BYTES` is not read.
        user_agent: as it is sent; the rules are looked up for its part before the slash.
    """
    if status < 200 or status >= 500 or status == _TOO_MANY_REQUESTS:
        return UNAVAILABLE
    if status >= 300:
        return RobotsRules()
    if len(body) > MOST_BYTES:
        # Half a rule would be another rule.
        body = body[:MOST_BYTES].rpartition(b"\n")[0]
    parsed = Protego.parse(decode(body).text)
    agent = user_agent.partition("/")[0].strip()
    delays = [] if (delay := parsed.crawl_delay(agent)) is None else [delay]
    if (rate := parsed.request_rate(agent)) is not None:
        delays.append(rate.seconds / rate.requests)
    return RobotsRules(
        crawl_delay=max(delays, default=None),
        sitemaps=tuple(dict.fromkeys(parsed.sitemaps)),
        _parsed=parsed,
        _agent=agent,
    )
