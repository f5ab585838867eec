"""The end of a crawl in the ledger: whether it is complete, and the rows that the site's patterns write."""

from dataclasses import asdict
from datetime import timedelta

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.database.batches import batched
from sourcebook.database.queries import queries
from sourcebook.errors import FailureClass
from sourcebook.model.report import ItemFailure
from sourcebook.web.canonicals import canonical_pages
from sourcebook.web.crawl_result import CrawlResult, why_login, why_nothing
from sourcebook.web.discovery import Discovery
from sourcebook.web.frontier import Frontier
from sourcebook.web.login import LoginError
from sourcebook.web.site import Site

_RETRY_AFTER = timedelta(minutes=5)
"""Time until the retry of a crawl that had to stop."""
_LOOKS_AT_WHAT_IS_HELD = 48
"""Looks within a refresh interval at a site whose loss is held back."""


def conclude(frontier: Frontier, site: Site, result: CrawlResult, *, is_round: bool) -> ItemFailure | None:
    """Record how a crawl ended; return the failure of the site as a whole, None where there is none.

    A crawl that paused for other sites goes on with the next ingest. A round ends where max_pages is reached: URLs
    without a stored page that still wait are beyond it. It is interrupted only where a URL waits that a crawl would
    request.

    Args:
        frontier: URLs of the site.
        site: the site.
        result: result of the crawl.
        is_round: whether the crawl was a whole round, and not a retry of some URLs.
    """
    if not is_round:
        if result.stopped is None and site.crawl_started_at is None:
            frontier.leave_rest()
        return result.stopped
    if result.stopped is not None:
        has_logged_in = site.settings.login is not None and site.settings.login.form is not None
        wait = _after_login(site) if result.shows_login and has_logged_in else _RETRY_AFTER
        if result.stopped.failure_class is FailureClass.HELD:
            wait = max(_RETRY_AFTER, site.settings.refresh / _LOOKS_AT_WHAT_IS_HELD)
        frontier.interrupt(result.stopped.reason, result.stopped.failure_class, wait)
        return result.stopped
    counts = frontier.counts()
    if result.paused and counts.queued:
        frontier.pause()
        return None
    if counts.next_attempt_at is not None and counts.live >= site.settings.max_pages:
        frontier.leave_rest(new_only=True)
        counts = frontier.counts()
    if counts.next_attempt_at is not None:
        waits_for = result.waits_for
        reason = "the host asked for a pause" if waits_for is None else waits_for.reason
        failure_class = FailureClass.SERVER if waits_for is None else waits_for.failure_class
        error = f"{reason}; {counts.queued:,} URLs wait until then"
        frontier.interrupt(error, failure_class, counts.next_attempt_at)
        return ItemFailure(site.location, error, failure_class)
    frontier.leave_rest()
    if counts.live > result.counts["login"]:
        frontier.end()
        return None
    failure = why_login(site, result) if counts.live else why_nothing(site, result)
    frontier.refuse(failure.reason, failure.failure_class)
    return failure


def conclude_without_login(frontier: Frontier, site: Site, error: LoginError) -> None:
    """Record that a crawl could not log in."""
    wait = _RETRY_AFTER if error.transient else _after_login(site)
    frontier.interrupt(str(error), error.failure_class, wait)


def _after_login(site: Site) -> timedelta:
    """Return the time until the next login after one without success: repeated ones lock an account."""
    return max(site.settings.refresh, _RETRY_AFTER)


BATCH = 5000
"""Pages per statement."""


def renew_page_tags(connection: Connection, site: Site) -> None:
    """Give every stored page of a site the tags that the patterns of its settings give it."""
    scope = {"source_id": site.id}
    rows = connection.execute(queries["page_tags"], scope).fetchall()
    wanted = [(url, before, site.tags_of(url)) for url, before in rows]
    for batch in batched([(url, given) for url, before, given in wanted if before != given], BATCH):
        urls, tags = [url for url, _ in batch], Jsonb([given for _, given in batch])
        connection.execute(queries["tag_pages"], {**scope, "urls": urls, "tags": tags})


def record_left_out(connection: Connection, site: Site, discovery: Discovery) -> int:
    """Record the URLs that rules leave out, of every stored page and of the lists of this round.

    Returns:
        The number of URLs.
    """
    scope = {"source_id": site.id}
    with connection.transaction(), connection.cursor(name="unknown_links") as cursor:
        cursor.execute(queries["unknown_links"], scope)
        discovery.note_links(cursor)
    found = discovery.left_out.found() + canonical_pages(connection, site)
    left_out = Jsonb([asdict(entry) for entry in found])
    connection.execute(queries["record_left_out"], {**scope, "left_out": left_out})
    return sum(entry.urls for entry in found)
