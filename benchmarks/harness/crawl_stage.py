"""The stage `crawled_pages` alone, over a library of one site.

python -m benchmarks.harness.crawl_stage FOLDER     crawls the site of the library in FOLDER and prints what came of it
"""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.library import COLLECTION, PROJECT, Library, child_environment
from benchmarks.harness.measure import Measurement, run
from benchmarks.harness.report import say
from sourcebook.admin.collections import apply
from sourcebook.database.database import Database
from sourcebook.stages.crawled_pages import update_crawled_pages

_TOLD = 3


@dataclass(frozen=True)
class Crawled:
    """A run of the stage in a process of its own."""

    seconds: float
    """Seconds from the start of the stage to its end, the imports of the crawl included."""
    counts: dict[str, int]
    """Counts of the stage's report."""
    measurement: Measurement
    """Time and memory of the whole process."""


def configure(library: Library, database: Database, url: str, **settings: Any) -> None:
    """Give a library one site as its only source; `settings` are keys of a site in `sourcebook.yaml`."""
    text = json.dumps({"collections": {COLLECTION: {"sites": [{"url": url, **settings}]}}})
    library.configuration_path.write_text(text, encoding="utf-8")
    with database.connection() as connection:
        apply(connection, library.configuration)


def crawl(library: Library) -> Crawled:
    """Run the stage. The library's server must run already, so that neither its start nor its memory is measured."""
    measured = run(
        [sys.executable, "-m", "benchmarks.harness.crawl_stage", str(library.folder)],
        {**child_environment(), "PYTHONPATH": str(PROJECT)},
    )
    told = json.loads(measured.output)
    for uri, reason in told["failures"][:_TOLD]:
        say(f"  {uri}: {reason}")
    return Crawled(told["seconds"], told["counts"], measured)


def main() -> None:
    library = Library(Path(sys.argv[1]))
    with library.database() as database, database.connection() as connection:
        started = time.perf_counter()
        report = update_crawled_pages(connection, COLLECTION, folder=library.home / "crawl4ai")
        seconds = time.perf_counter() - started
    failures = [(failure.uri, failure.reason) for failure in report.failures]
    print(json.dumps({"seconds": seconds, "counts": report.counts(), "failures": failures}))


if __name__ == "__main__":
    main()
