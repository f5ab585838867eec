"""The documentation site, crawled and searched by Sourcebook: questions whose page and anchor are known."""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION
from benchmarks.harness.report import Row, say
from benchmarks.harness.site_server import SiteServer
from release.site import build_site
from sourcebook.contract.search_results import SearchResult

QUESTIONS: Final = Path(__file__).parents[1] / "corpora" / "docs_questions.tsv"
_SITE: Final = {"exclude": ["/decisions/**"], "politeness": {"requests_per_second": "unlimited", "concurrency": 8}}
_FOR_PROGRAMS: Final = ("rest.html", "python.html", "mcp-tools.html")
_BOOST: Final = 0.25
"""Boost of the references for programs: most people ask about the product, and these name everything once more."""
_BAR: Final = 0.9


@dataclass(frozen=True)
class Question:
    """A question, and the places that answer it: `page#anchor`, or a page alone."""

    part: str
    """`work` or `report`, and the same of a third set: `third work`, `third report`."""
    text: str
    places: tuple[str, ...]

    def is_answered_by(self, hit: SearchResult) -> bool:
        """Whether a result is of one of the places: a section of its passage, or one within the place."""
        page = urlsplit(hit.uri).path.rpartition("/")[2].removesuffix(".html")
        around = (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in hit.heading_path)
        anchors = {hit.anchor, *(section.anchor for section in hit.sections), *around}
        return any(place == page or place in {f"{page}#{anchor}" for anchor in anchors} for place in self.places)

    def is_of_its_page(self, hit: SearchResult) -> bool:
        """Whether a result is of the page of one of the places, at any anchor."""
        page = urlsplit(hit.uri).path.rpartition("/")[2].removesuffix(".html")
        return page in {place.partition("#")[0] for place in self.places}


def read_questions() -> list[Question]:
    """Return the committed questions."""
    lines = [line for line in QUESTIONS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [
        Question(part, text, tuple(places.split()))
        for part, text, places in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    ]


def run(bench: Bench) -> list[Row]:
    """Build the site, crawl it, and ask."""
    site = bench.folder / "site"
    build_site(site)
    library = bench.library("docs")
    with SiteServer(site) as server:
        settings = {"sites": [{"url": f"{server.url}tutorial.html", **_SITE}]}
        library.configuration_path.write_text(json.dumps({"collections": {COLLECTION: settings}}), encoding="utf-8")
        counts = library.ingest().counts
    say(f"  {counts['documents']['added']} pages, {counts['chunks']['added']} passages")
    with library.knowledge() as knowledge:
        for page in _FOR_PROGRAMS:
            knowledge.curate_document(page, boost=_BOOST, reason="for programs")
        asked = [(question, list(knowledge.search(question.text, COLLECTION).results)) for question in read_questions()]
    bench.drop(library)
    return list(_rows(asked))


def _rows(asked: list[tuple[Question, list[SearchResult]]]) -> Iterator[Row]:
    for part in dict.fromkeys(question.part for question, _ in asked):
        held = [(question, hits) for question, hits in asked if question.part == part]
        right = [bool(hits) and question.is_answered_by(hits[0]) for question, hits in held]
        among = [any(question.is_answered_by(hit) for hit in hits) for question, hits in held]
        for (question, hits), is_right in zip(held, right, strict=True):
            if not is_right and part.endswith("work"):
                found = ", ".join(f"{urlsplit(hit.uri).path[1:]}#{hit.anchor}" for hit in hits[:3])
                say(f"  {question.text}: {found or 'nothing'}, not {' '.join(question.places)}")
        pages = [bool(hits) and question.is_of_its_page(hits[0]) for question, hits in held]
        note = f"{sum(right)} of {len(held)}; {sum(among)} among the first five, {sum(pages)} of the right page"
        yield Row(
            f"page and anchor of the first result, {part}", sum(right) / len(held), "%", _BAR, note, at_least=True
        )
