"""The frontier of a site in the database: its URLs with their state.

The outcome of a visit and the state of its URL are written in one transaction. A killed crawl therefore continues where
it stopped: no page is lost, and no recorded page is fetched again.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import TypeVar

from psycopg import Connection
from psycopg.rows import class_row

from sourcebook.database.batches import batched
from sourcebook.database.queries import queries
from sourcebook.database.refusals import write_in_halves
from sourcebook.errors import FailureClass
from sourcebook.web.outcome import (
    ClaimedUrl,
    Failed,
    FoundUrl,
    FrontierCounts,
    Gone,
    Listed,
    Outcome,
    Postponed,
    Recorded,
    Redirected,
    Refused,
    Stored,
    Unchanged,
    nearest_urls,
    refused_by_database,
)
from sourcebook.web.page_rows import PageRows
from sourcebook.web.site import Site
from sourcebook.web.url import normal_form

BATCH = 5000
"""URLs per statement."""
MOST_POSTPONED = 3
"""Times in a row that a URL itself may ask to wait; then it fails, so that the round goes on without it."""
OutcomeKind = TypeVar("OutcomeKind", bound=Outcome)


class Frontier:
    """Reads and writes the rows of one site. Not thread-safe.

    Args:
        connection: in autocommit mode.
        site: site of the frontier; the collection's lock keeps other processes away.
    """

    def __init__(self, connection: Connection, site: Site) -> None:
        self._connection = connection
        self._site = site
        self._scope = {"source_id": site.id, "start": normal_form(site.settings.url)}
        self.began_at: datetime | None = site.crawl_started_at
        self._rows = PageRows(site)

    def begin(self, start: str) -> None:
        """Begin a new round, in which every URL is requested again."""
        with self._connection.transaction():
            self._run("begin_crawl", scope=self._site.scope_digest)
            self._run("requeue_urls")
            self._run("demote_starts", start=start)
            row = self._connection.execute(queries["transaction_time"]).fetchone()
            self.began_at = row[0] if row else None
            self.add([FoundUrl(start, 0, None, role="start", listed=True)])

    def recover(self) -> int:
        """Queue the URLs that a killed crawl had claimed; return their number."""
        return self._run("recover_urls")

    def queue_failed(self, *, now: bool = False, is_round: bool = False) -> int:
        """Queue failed URLs that are due for a retry, or all of them; in a round also the start."""
        return self._run("queue_failed_urls", now=now, is_round=is_round)

    def release_postponed(self) -> int:
        """Let URLs that robots.txt has postponed be requested now, as its rules are read again; return their number."""
        return self._run("release_urls")

    def queue_named(self, urls: Sequence[str]) -> int:
        """Queue known URLs in any state."""
        return self._run("queue_named_urls", urls=list(urls))

    def skip_unchanged(self, cleaner: str) -> int:
        """Mark URLs as fetched that the sitemap declares unchanged; return their number."""
        return self._run("skip_unchanged_urls", cleaner=cleaner)

    def claim_lists(self, limit: int, *, starts_only: bool = False) -> list[ClaimedUrl]:
        """Claim the start and lists, those nearest to the start first.

        Args:
            limit: largest number of URLs.
            starts_only: whether to claim only the start and its redirect targets.
        """
        return self._claim("claim_lists", limit=limit, starts_only=starts_only)

    def claim_pages(self, limit: int, *, known_only: bool = False) -> list[ClaimedUrl]:
        """Claim pages in order of their depth; those that ask again and again to wait come last.

        Args:
            limit: largest number of URLs.
            known_only: whether to claim only stored pages, because max_pages is reached.
        """
        pages = self._claim("claim_pages", limit=limit, known_only=known_only, patient=False)
        return pages or self._claim("claim_pages", limit=limit, known_only=known_only, patient=True)

    def _claim(self, query: str, **parameters: object) -> list[ClaimedUrl]:
        scope = {**self._scope, "most_postponed": MOST_POSTPONED}
        with self._connection.cursor(row_factory=class_row(ClaimedUrl)) as cursor:
            return cursor.execute(queries[query], {**scope, **parameters}).fetchall()

    def add(self, found: Iterable[FoundUrl]) -> int:
        """Add URLs; return the number of new ones."""
        new = 0
        for batch in batched(nearest_urls(found), BATCH):
            rows = self._connection.execute(
                queries["add_urls"],
                {
                    **self._scope,
                    "urls": [url.url for url in batch],
                    "roles": [url.role for url in batch],
                    "listed": [url.listed for url in batch],
                    "depths": [url.depth for url in batch],
                    "parents": [url.parent for url in batch],
                    "lastmods": [url.lastmod for url in batch],
                    "since": self.began_at,
                },
            )
            new += sum(is_new for (is_new,) in rows)
        return new

    def record(self, outcomes: Sequence[Outcome], cleaner: str, seconds: Mapping[int, float]) -> Recorded:
        """Record outcomes and the URLs they found in one transaction.

        One that the database refuses is recorded as failed; its stored page stays.

        Args:
            outcomes: outcomes of claimed URLs.
            cleaner: identity of the cleaner that made the pages.
            seconds: seconds of the response by the id of its URL.
        """

        def write(some: Sequence[Outcome]) -> int:
            self._record_pages([outcome for outcome in some if isinstance(outcome, Stored)], cleaner)
            self._record_states(some, seconds)
            return self.add(
                url
                for outcome in some
                if isinstance(outcome, Stored | Listed | Redirected | Refused)
                for url in outcome.found
            )

        new, refused = write_in_halves(self._connection, outcomes, write, refused_by_database)
        return sum(new), [(outcome, refused_by_database(outcome, refusal)) for outcome, refusal in refused]

    def _record_pages(self, stored: Sequence[Stored], cleaner: str) -> None:
        if stored:
            # In the order of their keys, because two crawls that write equal contents wait for each other.
            contents = [
                self._rows.content(outcome.page) for outcome in sorted(stored, key=lambda each: each.page.sha256)
            ]
            with self._connection.cursor() as cursor:
                cursor.executemany(queries["add_parsed_contents"], [row for row in contents if row is not None])
                cursor.executemany(queries["record_pages"], [self._rows.page(outcome, cleaner) for outcome in stored])

    def _record_states(self, outcomes: Sequence[Outcome], seconds: Mapping[int, float]) -> None:
        def those(kind: type[OutcomeKind]) -> list[OutcomeKind]:
            return [outcome for outcome in outcomes if isinstance(outcome, kind)]

        unchanged, redirected, gone = those(Unchanged), those(Redirected), those(Gone)
        refused, failed, postponed = those(Refused), those(Failed), those(Postponed)
        fetched = [outcome for outcome in outcomes if isinstance(outcome, Stored | Unchanged | Listed)]
        if fetched:
            notices = [outcome.notice if isinstance(outcome, Listed) else None for outcome in fetched]
            self._mark("mark_fetched", fetched, seconds, notices=notices)
        if starts := [
            outcome for outcome in fetched if outcome.claimed.is_start and not isinstance(outcome, Unchanged)
        ]:
            roles = ["list" if isinstance(outcome, Listed) else "start" for outcome in starts]
            self._run("set_roles", ids=_ids(starts), roles=roles)
        if unchanged:
            urls, lastmods = _columns(unchanged, "claimed.url", "claimed.lastmod")
            self._run("confirm_pages", urls=urls, lastmods=lastmods)
        if redirected:
            self._mark("mark_redirected", redirected, seconds, targets=[outcome.target for outcome in redirected])
        if gone:
            self._mark("mark_gone", gone, seconds, reasons=[outcome.reason for outcome in gone])
        if refused:
            reasons, rules = _columns(refused, "reason", "rule")
            self._mark("mark_refused", refused, seconds, reasons=reasons, rules=rules)
        left: list[Outcome] = [*redirected, *gone, *(outcome for outcome in refused if outcome.removes)]
        if left:
            self._run("remove_pages", urls=[outcome.claimed.url for outcome in left])
        if failed:
            reasons = [outcome.reason for outcome in failed]
            waits = [outcome.retry_after.total_seconds() if outcome.retry_after else 0.0 for outcome in failed]
            self._mark(
                "mark_failed",
                failed,
                seconds,
                reasons=reasons,
                failure_classes=[outcome.failure_class.value for outcome in failed],
                transient=[outcome.transient for outcome in failed],
                retry_after=waits,
            )
        if postponed:
            pauses, answered = _columns(postponed, "reason", "answered")
            now = datetime.now(UTC)  # due times are the database's, whose clock may be another
            self._run(
                "postpone_urls",
                ids=_ids(postponed),
                waits=[outcome.until - now for outcome in postponed],
                reasons=pauses,
                answered=answered,
                failure_classes=[outcome.failure_class.value for outcome in postponed],
                most_postponed=MOST_POSTPONED,
            )

    def _mark(self, query: str, outcomes: Sequence[Outcome], seconds: Mapping[int, float], **columns: object) -> None:
        ids = _ids(outcomes)
        self._run(query, ids=ids, seconds=[seconds.get(number) for number in ids], **columns)

    def remove(self, urls: Sequence[tuple[int, str]]) -> int:
        """Delete URLs that no longer belong to the site; return the number of pages removed."""
        with self._connection.transaction():
            removed = self._run("remove_pages", urls=[url for _, url in urls])
            self._run("delete_urls", ids=[number for number, _ in urls])
        return removed

    def forget(self) -> None:
        """Delete every URL, and those of no site; the pages stay."""
        self._run("forget_urls")

    def restore_depths(self) -> None:
        """Add the stored pages at their depths in the last round; those without one are left out."""
        self._run("restore_depths")

    def pages_without_url(self) -> list[str]:
        """Return the stored pages that are not among the URLs."""
        return [url for (url,) in self._connection.execute(queries["pages_without_url"], self._scope)]

    def remove_pages(self, urls: Sequence[str]) -> int:
        """Remove pages whose URLs stay in the frontier; return the number of pages removed."""
        return self._run("remove_pages", urls=list(urls))

    def counts(self) -> FrontierCounts:
        """Count queued URLs and stored pages."""
        with self._connection.cursor(row_factory=class_row(FrontierCounts)) as cursor:
            found = cursor.execute(queries["frontier_counts"], self._scope).fetchone()
        return found or FrontierCounts(0, 0, None, 0)

    def urls(self) -> list[tuple[int, str, int, str]]:
        """Return (id, URL, depth, role) of every URL."""
        return self._connection.execute(queries["frontier_urls"], self._scope).fetchall()

    def starts(self) -> list[tuple[str, str]]:
        """Return (URL, role) of the site's URL and its redirect targets, as remembered where others changed URLs."""
        return self._connection.execute(queries["start_urls"], self._scope).fetchall()

    def lists(self) -> list[str]:
        """Return the URLs of the lists that are known."""
        return [url for (url,) in self._connection.execute(queries["list_urls"], self._scope)]

    def page_hashes(self) -> set[bytes]:
        """Return the hashes of the stored pages."""
        return {row[0] for row in self._connection.execute(queries["page_hashes"], self._scope)}

    def page_links(self) -> Iterable[tuple[str, int, list[str]]]:
        """Yield (URL, depth, links) of the stored pages."""
        with self._connection.transaction(), self._connection.cursor(name="page_links") as cursor:
            cursor.execute(queries["page_links"], self._scope)
            yield from cursor

    def end(self) -> None:
        """Record the end of the round."""
        self._run("end_crawl", refresh=self._site.settings.refresh.total_seconds())

    def leave_rest(self, *, new_only: bool = False) -> int:
        """Mark the queued pages as beyond max_pages, or only those without a stored page; return their number."""
        return self._run("mark_beyond", new_only=new_only)

    def pause(self) -> None:
        """Record that the round goes on with the next ingest, which may follow at once."""
        self._run("pause_crawl")

    def interrupt(self, error: str, failure_class: FailureClass, pause: timedelta | datetime) -> None:
        """Record that the round pauses for some time, or until a time of the database; queued URLs stay queued."""
        wait, until = (None, pause) if isinstance(pause, datetime) else (pause, None)
        self._run("interrupt_crawl", error=error, failure_class=failure_class, wait=wait, until=until)

    def refuse(self, error: str, failure_class: FailureClass) -> None:
        """Record the end of a round without pages, with the reason."""
        seconds = self._site.settings.refresh.total_seconds()
        self._run("refuse_crawl", error=error, failure_class=failure_class, refresh=seconds)

    def _run(self, query: str, **parameters: object) -> int:
        return self._connection.execute(queries[query], {**self._scope, **parameters}).rowcount


def _ids(outcomes: Iterable[Outcome]) -> list[int]:
    return [outcome.claimed.id for outcome in outcomes]


def _columns(outcomes: Sequence[Outcome], *names: str) -> list[list[object]]:
    return [[attrgetter(name)(outcome) for outcome in outcomes] for name in names]
