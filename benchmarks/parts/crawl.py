"""A site's first crawl, the one where nothing changed, and the rate limit."""

from collections import Counter
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from psycopg import Connection

from benchmarks.corpora.html_site import START, write_site
from benchmarks.corpora.site_links import reachable
from benchmarks.harness.bench import Bench
from benchmarks.harness.crawl_stage import Crawled, configure, crawl
from benchmarks.harness.library import COLLECTION
from benchmarks.harness.report import MEGABYTE, Row, middle, say, spread
from benchmarks.harness.site_server import Arrival, SiteServer
from sourcebook.database.queries import queries
from sourcebook.indexing.generations import ensure_generation
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.documents.update import update_documents

_CONCURRENCY = 8
_RATES = ((5, 60), (20, 100))
"""Limits in requests a second, and the number of pages fetched under each."""
_WITHOUT_LIMIT = {"max_depth": 1000, "max_pages": 10_000_000}
_ASKED_FRESH = ("/robots.txt", f"/{START}")
"""Paths that a second crawl fetches without a condition: robots.txt, and the first page, which lists the others."""


@dataclass(frozen=True)
class AtLeast(Row):
    """A line of the table whose bar is the smallest value allowed."""

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None without a bar or a value."""
        return None if self.bar is None or self.value is None else self.value >= self.bar

    @property
    def cells(self) -> tuple[str, ...]:
        """Cells of the line: measure, value, bar, ratio, met."""
        measure, value, bar, *rest = super().cells
        return (measure, value, bar.replace("≤", "≥"), *rest)


@dataclass(frozen=True)
class Round:
    """A crawl, the requests that the server saw, and the pages that were stored."""

    crawled: Crawled
    arrivals: list[Arrival]
    kept: frozenset[str]
    """Paths of the pages."""
    refused: int
    """Pages that the crawl skips on purpose, such as one without text."""

    @property
    def pages_a_second(self) -> float:
        return len(self.kept) / self.crawled.seconds

    @property
    def asked_twice(self) -> int:
        """Number of paths with more than one request."""
        return sum(number > 1 for number in Counter(arrival.path for arrival in self.arrivals).values())

    @property
    def unconditional(self) -> int:
        """Number of requests for known pages whose answer was not a 304."""
        return sum(arrival.status != 304 and arrival.path not in _ASKED_FRESH for arrival in self.arrivals)


@dataclass(frozen=True)
class Pair:
    """A first crawl and a second one over the same pages."""

    first: Round
    again: Round

    @property
    def speed_up(self) -> float:
        return self.first.crawled.seconds / self.again.crawled.seconds

    @property
    def unconfirmed(self) -> int:
        """Number of pages, without the first one, that the second crawl did not confirm by a 304."""
        confirmed = {arrival.path for arrival in self.again.arrivals if arrival.status == 304}
        return len(self.first.kept.difference(confirmed, _ASKED_FRESH))


def run(bench: Bench) -> list[Row]:
    """Crawl a local site into empty libraries, each twice; then crawl parts of it at limited rates."""
    folder = bench.options.pages or bench.folder / "pages"
    if bench.options.pages is None:
        write_site(folder, bench.options.site_pages)
    expected = reachable(folder)
    median = middle([float(file.stat().st_size) for file in expected.values()])
    size = f"{len(expected):,} pages, median {median / 1000:.0f} KB"
    with SiteServer(folder) as server:
        pairs, touched = [], 0
        for number in range(bench.options.repeat):
            pair, changes = _pair(bench, server, take_in=number == 0)
            pairs.append(pair)
            touched += changes
        rates = [_rate_row(bench, server, rate, min(pages, len(expected))) for rate, pages in _RATES]
    return [*_first_rows(pairs, set(expected), size), *_again_rows(pairs, touched), *rates]


def busiest_second(arrivals: list[Arrival]) -> int:
    """Return the largest number of requests within one second."""
    times = sorted(arrival.at for arrival in arrivals)
    most = first = 0
    for last, time in enumerate(times):
        while time - times[first] >= 1.0:
            first += 1
        most = max(most, last - first + 1)
    return most


def _pair(bench: Bench, server: SiteServer, *, take_in: bool) -> tuple[Pair, int]:
    """Crawl twice; return the number of documents and chunks that the second crawl touched."""
    library = bench.library("crawl")
    with library.database() as database, database.connection() as connection:
        settings = {"politeness": {"requests_per_second": "unlimited", "concurrency": _CONCURRENCY}, "render": "never"}
        configure(library, database, f"{server.url}{START}", **settings, **_WITHOUT_LIMIT)
        server.arrivals()
        first = _round(connection, crawl(library), server)
        if take_in:
            assert _take_in(connection), "no documents were made of the pages"
        connection.execute(queries["request_crawl"], {"collection": COLLECTION, "location": f"{server.url}{START}"})
        again = _round(connection, crawl(library), server)
        touched = _take_in(connection) if take_in else 0
    bench.drop(library)
    pair = Pair(first, again)
    say(f"  {first.crawled.seconds:.1f} s, {first.pages_a_second:.0f} pages/s; again {again.crawled.seconds:.1f} s")
    return pair, touched


def _round(connection: Connection, crawled: Crawled, server: SiteServer) -> Round:
    kept = connection.execute("SELECT url FROM crawled_page WHERE removed_at IS NULL").fetchall()
    refused = connection.execute("SELECT count(*) FROM frontier WHERE state = 'refused'").fetchone()
    paths = frozenset(unquote(urlsplit(url).path) for (url,) in kept)
    return Round(crawled, server.arrivals(), paths, refused[0] if refused else 0)


def _take_in(connection: Connection) -> int:
    """Make documents and chunks of the pages; return the number added, changed or removed."""
    documents = update_documents(connection, COLLECTION)
    generation = ensure_generation(connection, COLLECTION)
    chunks = prepare_chunks(connection, generation)
    return sum(report.added + report.changed + report.removed for report in (documents, chunks))


def _first_rows(pairs: list[Pair], expected: set[str], size: str) -> list[Row]:
    rounds = [pair.first for pair in pairs]
    speeds = [one.pages_a_second for one in rounds]
    missed = max(len(expected - one.kept) for one in rounds)
    refused = max(one.refused for one in rounds)
    peak = max(one.crawled.measurement.peak_tree for one in rounds)
    return [
        AtLeast(f"first crawl, {size}", middle(speeds), "pages/s", 60, spread(speeds, "pages/s")),
        Row("first crawl, URLs asked for twice", max(one.asked_twice for one in rounds), "URLs", 0),
        Row("first crawl, pages missed", missed, "pages", 0, f"{refused:,} refused on purpose" if refused else ""),
        Row("first crawl, peak memory", peak, "bytes", 400 * MEGABYTE, "of all its processes"),
    ]


def _again_rows(pairs: list[Pair], touched: int) -> list[Row]:
    rounds = [pair.again for pair in pairs]
    speed_ups, seconds = [pair.speed_up for pair in pairs], [one.crawled.seconds for one in rounds]
    return [
        AtLeast("crawl again, speed-up where nothing changed", middle(speed_ups), "×", 5, spread(speed_ups, "×")),
        Row("crawl again, seconds", middle(seconds), "s", note=spread(seconds, "s")),
        Row("crawl again, pages not confirmed by a 304", max(pair.unconfirmed for pair in pairs), "pages", 0),
        Row(
            "crawl again, answers that were not 304",
            max(one.unconditional for one in rounds),
            "answers",
            0,
            f"of {max(len(one.arrivals) for one in rounds):,} requests; the first page and robots.txt aside",
        ),
        Row("crawl again, documents and chunks touched", touched, "rows", 0),
    ]


def _rate_row(bench: Bench, server: SiteServer, rate: int, pages: int) -> Row:
    most, paces = 0, []
    for _ in range(bench.options.repeat):
        library = bench.library("rate")
        with library.database() as database:
            settings = {"politeness": {"requests_per_second": rate, "concurrency": _CONCURRENCY}, "render": "never"}
            configure(library, database, f"{server.url}{START}", **settings, max_pages=pages)
            server.arrivals()
            crawl(library)
            arrivals = server.arrivals()
        bench.drop(library)
        assert len(arrivals) > pages, f"{len(arrivals)} requests, of which one was for robots.txt"
        most = max(most, busiest_second(arrivals))
        paces.append((len(arrivals) - 1) / (arrivals[-1].at - arrivals[0].at))
        say(f"  limit {rate}/s: {len(arrivals)} requests, {paces[-1]:.1f} a second")
    overall = f"{middle(paces):.1f} a second over {pages} pages"
    return Row(f"limit {rate}/s, most requests in any second", most, "requests", rate, overall)
