"""`python -m benchmarks [NAME…]`: measure, print one table, and end with 1 where a bar is missed."""

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from benchmarks.corpora.debian_documentations import NoDocumentationError, chosen
from benchmarks.harness.bench import Bench, Options
from benchmarks.harness.machine import describe
from benchmarks.harness.report import Row, say, table

SHARED_SETS = Path(__file__).resolve().parents[2] / "shared/data/retrieval"
"""Folder of the judged sets beside this checkout."""
PARTS = {
    "ingest": "first ingest against SentenceTransformer.encode alone",
    "firstanswer": "seconds to the answer of a first ingest, its whole time beside another checkout, a kill on the way",
    "unchanged": "ingest where nothing changed",
    "scan": "the scan and the staleness queries over 20,000 unchanged files",
    "dagster-range": "the oldest and the newest Dagster that is allowed: definitions load, an ingest runs",
    "listing": "listing and comparing 2,000 to 100,000 files, and the sensor's tick over 20 collections",
    "edit": "ingest after one edit",
    "records": "an export of --number issues in one JSON file against as many Markdown files, and one edit of each",
    "tables": "--number rows of a table against the same texts as files: first ingest, no change, one row edited",
    "recipes": "the recipes of sources over fakes of their services: 200 changes and faults, records lost or stale",
    "permissions": "--worlds worlds of permissions against an oracle, a probe of one bit, searches, changes",
    "tenants": "a database for each of --number tenants, 100 at most, against a collection and a group for each in one",
    "delete": "ingest after ten deletions",
    "growth": "status, a page of documents, and publishing a document, in the largest of --sizes against 2,000 files",
    "plan": "the plan of the next ingest among 20,000 files, and its forecasts against the ingests that follow",
    "generations": "other chunking beside searches: cost of the build, searches meanwhile, activation",
    "streams": "passages in streams of one thread each against one stream of all threads",
    "freshness": "seconds until a change is searchable while `sourcebook up` runs",
    "upstream": "seconds from a materialization upstream to the search that shows its row, while `sourcebook up` runs",
    "everything": "edits, uploads, pages and requests of three collections without a pause, with kills: lag, memory",
    "memory": "peak memory",
    "quality": "nDCG@10 of every way of searching on the judged sets, a BM25 oracle, ts_rank beside it",
    "languages": "nDCG@10 of the multilingual model in four languages, and from one to another",
    "fields": "nDCG@10 of BM25F, with weights for title, headings and text, against BM25",
    "fusion": "nDCG@10 of both legs alone and together on 24 sets of many kinds, weights by query and fixed",
    "chunkers": "other ways to cut documents beside ours: nDCG@10, answers within 1,000 tokens that are read",
    "strategy": "nDCG@10 of the strategy by query against the fixed one, on judged sets and on 200 mixed queries",
    "synonyms": "nDCG@10 with abbreviations of documents less without, on judged sets and on titles written otherwise",
    "snippets": "answers in the snippets of passages without a word of the query, and the time of finding them",
    "context": "contexts for language models in 32 languages: budget, fullness, citations, time after the search",
    "redaction": "recall and precision of redaction by category, its speed, its first use, finds where there are none",
    "ask": "answers of a language model: citations that resolve, questions refused, planted instructions",
    "firsttext": "first text of an answer on the page after the question, of a model that answers at once",
    "pages": "every page in Chromium at 1280 and 390 px: first contentful paint, bytes of scripts and of everything",
    "others": "a folder in Sourcebook, LlamaIndex and CocoIndex: processor time, first and after changes",
    "docs": "a hundred questions over the documentation site: page and anchor of the first result",
    "places": "whether results cite the exact section, page or second, on 720 questions of known places",
    "relations": "precision and recall of relations on EIPs and PEPs, their cost, what renames leave",
    "relevance": "how well the relevance is calibrated on judged sets that it was not fitted on, and what is refused",
    "server": "the REST API beside the library: what HTTP adds, clients at once, start, memory",
    "clients": "50 clients that search for two minutes over 10,000 documents: rate, latency, memory of the server",
    "mcp": "the server for agents beside the library: what the protocol adds, first answer, strays on its output",
    "fuzz": "requests that schemathesis makes up, with keys of three scopes: server errors, broken contracts",
    "search": "a whole search with the query's embedding: latency, first answer, clients at once",
    "search-large": "search over 100,000 passages, the query's embedding excluded",
    "keyword-designs": "ways to compute BM25 in PostgreSQL, over 10,000 and 100,000 passages",
    "search-ingesting": "search while an ingest goes on",
    "outage": "searches of eight threads while the database is away for 5, 20, 40 and 60 s",
    "kills": "kill -9 of ten kinds of processes at random moments: index against files, and what is left",
    "faults": "1,000 random faults by SQL in every table of the index, ten before each repair",
    "shards": "one collection by four and eight workers against one, killed workers, two homes over one database",
    "topology": "a deployment as processes: PostgreSQL on TCP, two code servers, web server, daemon, a killed worker",
    "provider": "10,000 texts through a provider with faults: lost, doubled, misplaced, beyond quota",
    "copy": "loading vectors",
    "contract": "lines that name a field of a search, and places that name an operation, outside their logic",
    "export": "export and import of 100,000 passages, and their memory",
    "million": "search, publishing, upkeep, disk and memory from 10,000 to a million passages",
    "hnsw": "the vector leg over 100,000 entries: HNSW by size and breadth, filters, deletions",
    "crawl": "a site's first crawl, the one where nothing changed, and the rate limit",
    "render": "pages that scripts make, in a browser",
    "documentations": "five documentations of Debian's: pages missed, words, anchors, speed beside two other crawlers",
    "documents": "words, order, headings and tables of documents, speed and memory of reading them",
    "officewords": "words of Word, Excel and PowerPoint files, messages and e-books that are neither read nor counted",
    "speech": "word errors, speed and memory of transcribing recordings",
}


def _absolute(text: str) -> Path:
    """Return a path that stands for the same file in every working directory."""
    return Path(text).absolute()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that were asked for; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure the figures of docs/figures.md. Parts: "
        + "; ".join(f"{name}: {what}" for name, what in PARTS.items()),
    )
    default = Options()
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts to run; all of them where none is named")
    parser.add_argument("--files", type=int, default=default.files, help="size of the generated corpus (%(default)s)")
    parser.add_argument(
        "--many-files", type=int, default=default.many_files, help="of `scan` and `memory` (%(default)s)"
    )
    parser.add_argument(
        "--sizes",
        type=lambda text: tuple(sorted(int(size) for size in text.split(","))),
        default=default.sizes,
        metavar="FILES,…",
        help="further libraries for `edit`, `delete`, `unchanged` and `growth`, such as 2000,20000,50000,100000; "
        "of `million`, its numbers of passages (10000,100000,1000000)",
    )
    parser.add_argument("--chunks", type=int, default=default.chunks, help="of `search`, about (%(default)s)")
    parser.add_argument("--repeat", type=int, default=default.repeat, help="medians of how many runs (%(default)s)")
    parser.add_argument("--corpus", type=_absolute, help="a folder of documents in place of generated ones")
    parser.add_argument(
        "--site-pages", type=int, default=default.site_pages, help="of the generated site of `crawl` (%(default)s)"
    )
    parser.add_argument(
        "--pages", type=_absolute, help="a folder of HTML pages with index.html in place of generated ones"
    )
    parser.add_argument(
        "--documentations",
        type=lambda text: tuple(text.split(",")),
        default=default.documentations,
        metavar="NAME,…",
        help="of `documentations`: some of python, django, postgresql, git, sqlite (all)",
    )
    parser.add_argument(
        "--packages",
        type=_absolute,
        help="a folder with the .deb files of `documentations`, which else apt-get fetches",
    )
    parser.add_argument(
        "--retrieval",
        type=_absolute,
        default=SHARED_SETS if SHARED_SETS.is_dir() else None,
        help="a folder of judged sets: scifact/ and cranfield/ with corpus.jsonl, queries.jsonl, qrels.tsv; xquad/ "
        "with en.json, de.json … (%(default)s)",
    )
    parser.add_argument(
        "--entries",
        type=int,
        default=default.entries,
        help="of `search-large`, `permissions` and `export` (%(default)s)",
    )
    parser.add_argument(
        "--documents", type=_absolute, help="a folder of documents, NAME.expected.md beside NAME.EXT (the shared ones)"
    )
    parser.add_argument(
        "--pdfs",
        type=_absolute,
        metavar="FOLDER",
        help="of `documents`, read the lists of PDFs and of Word files, too, also with other readers; packages, also "
        "those of `officewords`, and what these read stay there",
    )
    parser.add_argument(
        "--mutations",
        type=int,
        default=default.mutations,
        metavar="N",
        help="of `documents`, read N damaged files of all formats, too",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="of `documents`, read each once and leave memory out: seconds; of `clients`, 200 files and 5 s",
    )
    parser.add_argument("--kills", type=int, default=default.kills, help="of `kills`, a multiple of ten (%(default)s)")
    parser.add_argument(
        "--minutes", type=float, default=default.minutes, help="of the load of `everything` (%(default)s)"
    )
    parser.add_argument("--seconds", type=float, default=default.seconds, help="of the kills of `shards` (%(default)s)")
    parser.add_argument("--cases", type=int, default=default.cases, help="of `fuzz`, at least (%(default)s)")
    parser.add_argument(
        "--seed", type=int, default=default.seed, help="of the moments of `kills`, and of `fuzz` (%(default)s)"
    )
    parser.add_argument("--field", default=default.field, help="of `contract`, a field of a search (%(default)s)")
    parser.add_argument(
        "--operation", default=default.operation, help="of `contract`, a method of KnowledgeBase (%(default)s)"
    )
    parser.add_argument(
        "--number", type=int, default=default.number, help="of `records` and `tables`, the records (%(default)s)"
    )
    parser.add_argument("--worlds", type=int, default=default.worlds, help="of `permissions` (%(default)s)")
    parser.add_argument("--limit", type=int, help="the most documents of each judged set")
    parser.add_argument(
        "--diagram",
        type=_absolute,
        metavar="FILE",
        help="of `relevance` and `million`, write their diagram there, as SVG",
    )
    parser.add_argument(
        "--keep",
        type=_absolute,
        metavar="FOLDER",
        help="of `million`, keep its libraries there, and use those that are there",
    )
    parser.add_argument(
        "--beside", type=_absolute, metavar="FOLDER", help="of `firstanswer`, another checkout to compare with"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="take in --many-files files for `memory`, and two hours of speech for `speech`, too: an hour; "
        "embed the passages without their titles and headings, too, for `quality`",
    )
    parser.add_argument("--json", type=_absolute, metavar="FILE", help="write machine and rows there, too")
    given = vars(parser.parse_args(arguments))
    names, target = given.pop("names") or list(PARTS), given.pop("json")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there is {', '.join(PARTS)}")
    options = Options(**given)
    try:
        chosen(options.documentations)
    except NoDocumentationError as error:
        parser.error(str(error))
    if options.retrieval is not None and not options.retrieval.is_dir():
        parser.error(f"there is no folder {options.retrieval}")
    return _measure(options, [name for name in PARTS if name in names], target)


def _measure(options: Options, names: list[str], target: Path | None) -> int:
    rows: list[Row] = []
    with Bench(options) as bench:
        machine = describe(bench)
        for name in names:
            say(f"{name}: {PARTS[name]}")
            started = time.perf_counter()
            rows += import_module(f"benchmarks.parts.{name.replace('-', '_')}").run(bench)
            say(f"  took {time.perf_counter() - started:.0f} s")
    print("\n".join(f"{name:22}{value}" for name, value in machine.items()))
    print(f"\n{table(rows)}")
    if target is not None:
        lines = [{**asdict(row), "met": row.met} for row in rows]
        target.write_text(json.dumps({"machine": machine, "rows": lines}, indent=1) + "\n", encoding="utf-8")
    missed = sum(row.met is False for row in rows)
    print(f"\n{missed} of {sum(row.met is not None for row in rows)} bars missed.")
    return 1 if missed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers stop and files go
    sys.exit(main())
