"""Exact places: whether results cite the section, page or second that answers, on 720 questions of known places."""

import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from benchmarks.corpora.debian_documentations import DOCUMENTATIONS, NoDocumentationError, package_files, unpack
from benchmarks.corpora.place_questions import PlaceQuestion, read_questions, reference
from benchmarks.corpora.place_recordings import make_recordings
from benchmarks.corpora.reference_page import ReferencePage
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION
from benchmarks.harness.report import Row, say
from benchmarks.parts.documentations import CACHE
from sourcebook.contract.search_results import SearchResult

_LIMIT = 10
_BARS = {"anchor": 0.97, "page": 0.99, "second": 0.95}
"""Share of the questions."""
_NEAR = 2.0
"""Seconds between the cited time and the known one, at most."""
_SHARED = Path(__file__).resolve().parents[3] / "shared/data"
_RULES = {rules.name: rules for rules in DOCUMENTATIONS}


def run(bench: Bench) -> list[Row]:
    """Take in the documents of the questions, ask them, and count places that are exactly right."""
    if not _SHARED.is_dir():
        return [Row("exact places", None, note=f"there is no folder {_SHARED}")]
    packages = bench.folder / "debian"
    try:
        given = bench.options.packages
        unpack(list(package_files(DOCUMENTATIONS, given or CACHE / "packages", fetch=given is None).values()), packages)
    except NoDocumentationError as error:
        return [Row("exact places", None, note=str(error))]
    questions = read_questions()
    recordings = bench.folder / "recordings"
    for recording in make_recordings(_SHARED / "speech"):
        recording.write(recordings)
    originals = {(each.source, each.path): _original(each, packages, recordings) for each in questions}
    library = bench.library("places")
    for (source, path), original in originals.items():
        target = library.files / source / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(original, target)
    library.ingest()
    outcomes: dict[tuple[str, str], list[str]] = defaultdict(list)
    with library.knowledge() as knowledge:
        for question in questions:
            results = knowledge.search(question.text, COLLECTION, limit=_LIMIT, literal=True)
            outcome = _outcome(question, originals[question.source, question.path], results.results)
            outcomes[_kind(question), question.part].append(outcome)
            if outcome != "right" and question.part == "work":
                say(f"  {outcome}: {question}")
    bench.drop(library)
    return list(_rows(outcomes))


def _kind(question: PlaceQuestion) -> str:
    return "second" if question.second is not None else "page" if question.page else "anchor"


def _original(question: PlaceQuestion, packages: Path, recordings: Path) -> Path:
    if question.source == "recordings":
        return recordings / question.path
    if question.source == "pdfs":
        return _SHARED / question.path
    if question.source == "proposals":
        return _SHARED / "relations/eips" / question.path
    return packages / "usr/share/doc" / _RULES[question.source].folder / question.path


def _outcome(question: PlaceQuestion, original: Path, results: Sequence[SearchResult]) -> str:
    """Return whether the first result of the document cites the place, and otherwise whether its passage holds it."""
    hit = next((each for each in results if unquote(each.uri).endswith(f"/{question.source}/{question.path}")), None)
    if hit is None:
        return "not found"
    if question.second is not None:
        is_right = is_near(hit.start_seconds, question.second)
        is_within = any(is_near(section.start_seconds, question.second) for section in hit.sections)
        cited = f"{hit.start_seconds} s"
    elif question.page:
        is_right = hit.page == question.page
        is_within = question.page in {section.page for section in hit.sections}
        cited = f"page {hit.page}"
    else:
        page = None if question.source == "proposals" else _page(question.source, original)
        place = page.section if page is not None else (lambda anchor: anchor)
        is_right = place(hit.anchor) == place(question.anchor)
        is_within = place(question.anchor) in {place(section.anchor) for section in hit.sections}
        cited = f"#{hit.anchor}"
    return "right" if is_right else f"wrong in its passage: {cited}" if is_within else f"wrong passage: {cited}"


def is_near(cited: float | None, known: float) -> bool:
    """Return whether a cited time is right."""
    return cited is not None and abs(cited - known) <= _NEAR


@lru_cache(maxsize=4)
def _page(source: str, file: Path) -> ReferencePage:
    return reference(_RULES[source], file)


def _rows(outcomes: dict[tuple[str, str], list[str]]) -> Iterator[Row]:
    for (kind, part), told in sorted(outcomes.items()):
        found = [outcome for outcome in told if outcome != "not found"]
        right = found.count("right")
        beside = sum(outcome.startswith("wrong in") for outcome in found)
        note = (
            f"{right} of {len(found)}; {beside} wrong ones are of the passage that holds the place, "
            f"{len(told) - len(found)} of {len(told)} documents not among the first {_LIMIT}"
        )
        bar = _BARS[kind] if part == "report" else None
        yield Row(f"{kind} exactly right, {part}", right / len(found), "%", bar, note, at_least=True)
