"""Five documentations from Debian's packages: pages missed, words, anchors, memory, and speed beside two crawlers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from random import Random
from urllib.parse import quote, unquote, urlsplit

from psycopg import Connection

from benchmarks.corpora.debian_documentations import (
    Documentation,
    NoDocumentationError,
    chosen,
    package_files,
    unpack,
)
from benchmarks.corpora.html_site import START
from benchmarks.corpora.reference_page import ReferencePage, read_page
from benchmarks.corpora.site_links import reachable
from benchmarks.harness.bench import Bench
from benchmarks.harness.crawl_peers import NoPeerError, PeerCrawl, crawl4ai_crawl, scrapy_crawl, scrapy_python
from benchmarks.harness.crawl_stage import Crawled, configure, crawl
from benchmarks.harness.library import COLLECTION, PROJECT
from benchmarks.harness.page_scores import Passage, Words, anchor_fault, compare
from benchmarks.harness.report import MEGABYTE, Row, grid, say
from benchmarks.harness.site_server import SiteServer, file_at
from sourcebook.indexing.generations import ensure_generation
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.documents.update import update_documents

CACHE = PROJECT / "build" / "documentations"
"""Folder of the fetched packages, and of the virtual environment of scrapy."""
CONCURRENCY = 8
_SETTINGS = {
    "politeness": {"requests_per_second": "unlimited", "concurrency": CONCURRENCY},
    "render": "never",
    "max_depth": 1000,
    "max_pages": 10_000_000,
}
_RECALL, _NOISE, _MEMORY = 0.995, 0.02, 250 * MEGABYTE
_PASSAGES, _SEED = 1_000, 14
_PEERS: tuple[tuple[str, float | None], ...] = (
    ("crawl4ai, its HTTP strategy and its filter", 3),
    ("crawl4ai, whole pages", None),
    ("scrapy with trafilatura", 4.5),
)
"""Names of the peers, and how much faster the crawl is to be."""
_TOLD = 5
"""Pages or passages of a fault that are named."""
_STORED = (
    "SELECT url, coalesce(markdown, '') FROM crawled_page LEFT JOIN parsed_content USING (sha256, parser) "
    "WHERE crawled_page.removed_at IS NULL"
)
_SKIPPED = "SELECT url, state, coalesce(last_error, redirects_to, '') FROM frontier WHERE state <> 'fetched'"
_NUMBERS = (
    "SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id "
    "WHERE document.media_type = 'text/html' ORDER BY document.uri, chunk.ordinal"
)
_PASSAGE = (
    "SELECT document.uri, parsed.markdown, chunk.anchor, chunk.start_char, chunk.end_char FROM chunk "
    "JOIN document ON document.id = chunk.document_id JOIN parsed_content parsed "
    "ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser WHERE chunk.id = %s"
)


@dataclass(frozen=True)
class PassageFault:
    """A passage whose anchor is wrong."""

    url: str
    fault: str


@dataclass(frozen=True)
class Result:
    """A documentation after its crawls."""

    name: str
    pages: int
    """Pages that the link walker found."""
    missed: tuple[str, ...]
    """Their paths where nothing was stored."""
    words: Words
    passages: int
    faults: tuple[PassageFault, ...]
    crawled: Crawled
    peers: tuple[PeerCrawl | None, ...]
    """In the order of `_PEERS`; None where scrapy is not installed."""

    @property
    def pages_a_second(self) -> float:
        return (self.pages - len(self.missed)) / self.crawled.seconds


@dataclass(frozen=True)
class Site:
    """The pages of an unpacked documentation that a crawl should find."""

    documentation: Documentation
    folder: Path

    @cached_property
    def paths(self) -> dict[Path, str]:
        """File and path of each page; a page with two names, one of which is a link, counts once."""
        paths: dict[Path, str] = {}
        for path, file in reachable(self.folder).items():
            paths.setdefault(file.resolve(), path)
        return paths

    def file_of(self, url: str) -> Path | None:
        """Return the file behind a URL."""
        file = file_at(self.folder, unquote(urlsplit(url).path))
        return None if file is None else file.resolve()

    def page(self, file: Path) -> ReferencePage:
        """Read a page inside the documentation's container."""
        rules = self.documentation
        return read_page(file.read_bytes(), inside=rules.inside, without=rules.without, optional=rules.optional)


def run(bench: Bench) -> list[Row]:
    """Crawl each documentation with the stage and with both peers, print a line for each, and return the totals."""
    try:
        documentations = chosen(bench.options.documentations)
        folder, fetch = (bench.options.packages, False) if bench.options.packages else (CACHE / "packages", True)
        files = package_files(documentations, folder, fetch=fetch)
        unpack(list(files.values()), bench.folder / "debian")
    except NoDocumentationError as error:
        return [Row("documentations", None, note=str(error))]
    say(f"  {', '.join(file.name for file in files.values())}")
    python, reason = None, ""
    try:
        python = scrapy_python(CACHE / "scrapy")
    except NoPeerError as error:
        reason = str(error)
        say(f"  {reason}")
    share = _PASSAGES // len(documentations)
    results = []
    for documentation in documentations:
        say(f"  {documentation.name} …")
        site = Site(documentation, bench.folder / "debian" / "usr/share/doc" / documentation.folder)
        results.append(_measure(bench, site, python, share))
    print(f"{grid([_HEAD, *map(_line, results)])}\n")
    return totals(results, reason)


def _measure(bench: Bench, site: Site, python: Path | None, passages: int) -> Result:
    with SiteServer(site.folder) as server:
        start = f"{server.url}{START}"
        urls = [f"{server.url}{quote(path[1:])}" for path in site.paths.values()]
        library = bench.library(f"documentation-{site.documentation.name}")
        with library.database() as database, database.connection() as connection:
            configure(library, database, start, **_SETTINGS)
            crawled = crawl(library)
            missed, words = _pages(connection, site)
            faults, number = _anchors(connection, site, passages)
        bench.drop(library)
        outputs = bench.folder / "peers" / site.documentation.name
        peers = (
            crawl4ai_crawl(urls, outputs / "main", CONCURRENCY, main_content=True),
            crawl4ai_crawl(urls, outputs / "whole", CONCURRENCY, main_content=False),
            None if python is None else scrapy_crawl(python, start, outputs / "scrapy", CONCURRENCY),
        )
    return Result(site.documentation.name, len(site.paths), missed, words, number, faults, crawled, peers)


def _pages(connection: Connection, site: Site) -> tuple[tuple[str, ...], Words]:
    """Return the pages that are missing, and the words of all; a missing page is missing words, too."""
    stored = {file: markdown for url, markdown in connection.execute(_STORED) if (file := site.file_of(url))}
    words, each = Words(), {}
    for file, path in site.paths.items():
        each[path] = compare(site.page(file), stored.get(file, ""))
        words += each[path]
    missed = tuple(sorted(path for file, path in site.paths.items() if file not in stored and each[path].expected))
    skipped = {unquote(urlsplit(url).path): f"{state}: {why}" for url, state, why in connection.execute(_SKIPPED)}
    for path in missed[:_TOLD]:
        say(f"    missed {path}: {skipped.get(path, 'never found')}")
    for path, few in sorted(each.items(), key=lambda item: item[1].found - item[1].expected)[:_TOLD]:
        say(f"    {path}: {few.expected - few.found:,} of {few.expected:,} words are not stored")
    for path, many in sorted(each.items(), key=lambda item: -item[1].foreign)[:_TOLD]:
        say(f"    {path}: {many.foreign:,} of {many.stored:,} stored words are none of the page's")
    return missed, words


def _anchors(connection: Connection, site: Site, number: int) -> tuple[tuple[PassageFault, ...], int]:
    """Cut the pages into passages; return the faults of a random sample, and its size.

    The places of anchors are those in containers with their navigation, as a passage may begin with what is noise.
    """
    update_documents(connection, COLLECTION)
    prepare_chunks(connection, ensure_generation(connection, COLLECTION))
    numbers = connection.execute(_NUMBERS).fetchall()
    sample = sorted(Random(_SEED).sample(numbers, min(number, len(numbers))))
    faults = []
    rules = site.documentation
    whole_page = lru_cache(maxsize=1)(
        lambda file: read_page(
            file.read_bytes(), inside=rules.inside, optional=rules.optional, marginal=rules.without, notes=rules.notes
        )
    )
    for one in sample:
        [(url, markdown, anchor, start, end)] = connection.execute(_PASSAGE, one).fetchall()
        file = site.file_of(url)
        fault = "no page" if file is None else anchor_fault(whole_page(file), markdown, Passage(anchor, start, end))
        if fault is not None:
            faults.append(PassageFault(url, fault))
    for each in faults[:_TOLD]:
        say(f"    {urlsplit(each.url).path}: {each.fault}")
    return tuple(faults), len(sample)


def totals(results: Sequence[Result], without_scrapy: str = "") -> list[Row]:
    """Return the rows of all documentations together.

    Args:
        results: one of each documentation.
        without_scrapy: reason why there is no crawl by scrapy.
    """
    words = sum((each.words for each in results), Words())
    pages, missed = sum(each.pages for each in results), sum(len(each.missed) for each in results)
    wrong, passages = sum(len(each.faults) for each in results), sum(each.passages for each in results)
    seconds = sum(each.crawled.seconds for each in results)
    peak = max(each.crawled.measurement.peak_tree for each in results)
    speed = (pages - missed) / seconds
    return [
        Row("documentations, pages missed", missed, "pages", 0, f"of {pages:,}"),
        Row("documentations, recall of words", words.recall, "share", _RECALL, _lowest(results), at_least=True),
        Row("documentations, noise among words", words.noise, "share", _NOISE, _noisiest(results)),
        Row("documentations, passages with a wrong anchor", wrong, "passages", 0, f"of {passages:,}"),
        Row("documentations, crawl", speed, "pages/s"),
        *(
            _against(peer, speed, [each.peers[number] for each in results], bar, without_scrapy)
            for number, (peer, bar) in enumerate(_PEERS)
        ),
        Row("documentations, peak memory of the crawl", peak, "bytes", _MEMORY, "of all its processes"),
        _processor_against(results),
    ]


def _against(peer: str, speed: float, crawls: Sequence[PeerCrawl | None], bar: float | None, reason: str) -> Row:
    measure, done = f"documentations, speed against {peer}", [each for each in crawls if each is not None]
    if len(done) < len(crawls):
        return Row(measure, None, "×", bar, reason)
    pages, seconds = sum(each.pages for each in done), sum(each.seconds for each in done)
    note = f"{pages / seconds:.1f} pages/s, {pages:,} pages" if pages else "it wrote no page"
    return Row(measure, speed * seconds / pages if pages else None, "×", bar, note, at_least=True)


def _processor_against(results: Sequence[Result]) -> Row:
    """Return the last peer's processor time for a page against the crawl's, which a busy machine changes less."""
    measure, done = f"documentations, processor time of {_PEERS[-1][0]}", [each.peers[-1] for each in results]
    peers = [peer for peer in done if peer is not None]
    pages = sum(each.pages - len(each.missed) for each in results)
    theirs, ours = sum(peer.pages for peer in peers), sum(each.crawled.measurement.processor for each in results)
    if len(peers) < len(done) or not theirs or not ours:
        return Row(measure, None, "×")
    seconds = sum(peer.processor for peer in peers) / theirs
    note = f"{1000 * seconds:.1f} against {1000 * ours / pages:.1f} ms/page, the database aside"
    return Row(measure, seconds * pages / ours, "×", note=note)


def _lowest(results: Sequence[Result]) -> str:
    worst = min(results, key=lambda each: each.words.recall or 0.0)
    return f"lowest: {worst.name}, {worst.words.recall or 0.0:.4f}"


def _noisiest(results: Sequence[Result]) -> str:
    worst = max(results, key=lambda each: each.words.noise or 0.0)
    return f"highest: {worst.name}, {worst.words.noise or 0.0:.4f}"


_HEAD = (
    "",
    "pages",
    "missed",
    "recall",
    "noise",
    "wrong anchors",
    "pages/s",
    "crawl4ai",
    "… whole",
    "scrapy",
    "memory",
)


def _line(result: Result) -> tuple[str, ...]:
    peers = ("–" if peer is None else f"{peer.pages_a_second:.1f} ({peer.pages:,} pages)" for peer in result.peers)
    return (
        result.name,
        f"{result.pages:,}",
        f"{len(result.missed):,}",
        "–" if result.words.recall is None else f"{result.words.recall:.4f}",
        "–" if result.words.noise is None else f"{result.words.noise:.4f}",
        f"{len(result.faults):,} of {result.passages:,}",
        f"{result.pages_a_second:.1f}",
        *peers,
        f"{result.crawled.measurement.peak_tree / MEGABYTE:,.0f} MB",
    )
