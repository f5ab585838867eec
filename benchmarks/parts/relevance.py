"""Calibration of the relevance: fitted on some judged sets, tried on another, and what a search refuses."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import astuple

from benchmarks.corpora.asked_questions import ANSWERABLE, SMALL, asked_questions, collections_of
from benchmarks.harness.bench import Bench
from benchmarks.harness.calibration import Bin, expected_calibration_error, reliability
from benchmarks.harness.judged_passages import (
    LEGS,
    JudgedSearch,
    coefficients_of,
    fit_model,
    judged_searches,
    weights_of,
)
from benchmarks.harness.report import Row, say
from sourcebook.embedding.weights import BUNDLED_NAME, MULTILINGUAL_NAME
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.ranking.relevance import FITTED, RELEVANT_FROM, RelevanceModel

_LARGEST_ERROR = 0.08
_LEAST_REFUSED = 0.95
_MOST_REFUSED = 0.02
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours that people with colour blindness tell apart (Okabe and Ito)."""


def run(bench: Bench) -> list[Row]:
    """Ask judged questions of judged collections, fit, and report on the half that nothing was fitted on."""
    if not bench.retrieval_sets:
        return [Row("expected calibration error", None, note="run with --retrieval FOLDER, which holds scifact/")]
    rows = []
    for model in (BUNDLED_NAME, MULTILINGUAL_NAME):
        searches = ask(bench, model)
        found, diagram = measure(searches, model)
        rows += found
        if bench.options.diagram is not None and model == BUNDLED_NAME:
            bench.options.diagram.write_text(diagram, encoding="utf-8")
    return rows


def ask(bench: Bench, model: str) -> list[JudgedSearch]:
    """Return what the searches for all questions found in collections of an embedding model."""
    collections = collections_of(bench.retrieval_sets)
    library = bench.library(f"relevance-{model}", collections=list(collections), model=model)
    for name, known in collections.items():
        known.write(library.files_of(name))
    say(f"  {model}: first ingest of {sum(len(known.documents) for known in collections.values()):,} documents …")
    library.ingest()
    found: list[JudgedSearch] = []
    with library.database() as database, database.connection() as connection:
        vectors = QueryVectors(library.home)
        for asked in asked_questions(collections):
            if model == BUNDLED_NAME and asked.kind == "translated":
                continue  # it knows one language
            found += judged_searches(connection, vectors, asked)
        vectors.close()
    bench.drop(library)
    say(f"  {len(found):,} searches")
    return found


def measure(searches: Sequence[JudgedSearch], name: str) -> tuple[list[Row], str]:
    """Return the rows of the table for an embedding model, and the reliability diagram as SVG."""
    fitted_on = [each for each in searches if not each.is_reported]
    reported = [each for each in searches if each.is_reported]
    model = fit_model(fitted_on)
    for legs, coefficients in coefficients_of(model, name).items():
        say(f"  {legs}: {coefficients}")
    names = list(dict.fromkeys(each.collection for each in reported))
    sources = {each.collection: each.source for each in reported}
    without = {
        source: fit_model([each for each in fitted_on if each.source != source]) for source in set(sources.values())
    }
    held_back: dict[str, list[Bin]] = {}
    rows = []
    for collection in names:
        other = without[sources[collection]]
        of_set = [each for each in reported if each.collection == collection and each.kind != "removed"]
        own = [each for each in of_set if each.kind in ANSWERABLE]
        foreign = [each for each in of_set if each.kind == "foreign"]
        bins = _bins(other, of_set)
        if not collection.endswith(SMALL):
            held_back[collection] = bins
            error = expected_calibration_error(bins)
            rows.append(Row(f"{name}: calibration error, {collection} held back", error, "share", _LARGEST_ERROR))
        refused = _refused(other, foreign)
        note = f"its own {_percent(_refused(other, own))}; not held back {_percent(_refused(FITTED, foreign))}, "
        note += _percent(_refused(FITTED, own))
        row = Row(f"{name}: questions of other sets refused, {collection} held back", refused, "%", note=note)
        rows.append(row)
    difference = _largest_difference(model, name)
    note = "those in use were fitted on keyword queries and further sets, too: decision 0088"
    rows.append(Row(f"{name}: coefficients in use against fitted ones", difference, "share", note=note))
    rows += _refusals(reported, name)
    rises = [each.has_rise(FITTED) for each in reported if each.kind in ANSWERABLE]
    rows.append(Row(f"{name}: pages whose fused order rises in relevance by .1", sum(rises) / len(rises), "%"))
    return rows, reliability_diagram(held_back)


def _bins(model: RelevanceModel, searches: Sequence[JudgedSearch]) -> list[Bin]:
    """Return the tenths of the scale, answerable and other questions weighing alike."""
    pairs = [
        (passage, weight)
        for each, weight in zip(searches, weights_of(searches), strict=True)
        for passage in each.passages
    ]
    return reliability(
        [model.relevance(passage.evidence["both"]) for passage, _ in pairs],
        [float(passage.answers) for passage, _ in pairs],
        [weight for _, weight in pairs],
    )


def _refusals(reported: Sequence[JudgedSearch], name: str) -> Iterator[Row]:
    """Yield the shares of questions that are refused: of other sets, answerable, and without their documents."""
    whole = [each for each in reported if not each.collection.endswith(SMALL)]
    for legs in LEGS[:-1]:  # a search by the last one alone refuses nothing
        least, most = (_LEAST_REFUSED, _MOST_REFUSED) if legs == "both" else (None, None)
        refused = _refused(FITTED, [each for each in whole if each.kind == "foreign"], legs)
        yield Row(f"{name}: questions of other sets refused, {legs}", refused, "%", least, at_least=True)
        for kind in ANSWERABLE:
            own = [each for each in whole if each.kind == kind]
            if own:
                yield Row(f"{name}: {kind} questions refused, {legs}", _refused(FITTED, own, legs), "%", most)
    gone = _refused(FITTED, [each for each in reported if each.kind == "removed"])
    yield Row(
        f"{name}: refused where their documents are left out", gone, "%", note="the collection has others like them"
    )


def _refused(model: RelevanceModel, searches: Sequence[JudgedSearch], legs: str = "both") -> float:
    refused = [each.is_refused(model, legs, RELEVANT_FROM) for each in searches]
    return sum(refused) / len(refused) if refused else 0.0


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _largest_difference(model: RelevanceModel, name: str) -> float:
    fitted, in_use = coefficients_of(model, name), coefficients_of(FITTED, name)
    legs = LEGS if name == BUNDLED_NAME else ("both", "vectors")
    differences: list[float] = [
        abs(one - other)
        for each in legs
        for one, other in zip(astuple(fitted[each]), astuple(in_use[each]), strict=True)
    ]
    return max(differences)


def reliability_diagram(sets: dict[str, list[Bin]]) -> str:
    """Return predicted against observed shares as SVG: a line for each set, areas of circles by number of passages."""
    size, left, top = 420, 60, 20

    def place(predicted: float, observed: float) -> tuple[float, float]:
        return left + size * predicted, top + size * (1 - observed)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + size + 170} {top + size + 50}">',
        '<g font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<rect x="{left}" y="{top}" width="{size}" height="{size}" fill="none" stroke="#999999"/>',
        f'<path d="M{left} {top + size} L{left + size} {top}" stroke="#999999" stroke-dasharray="4 4"/>',
    ]
    for tenth in range(0, 11, 2):
        x, y = place(tenth / 10, tenth / 10)
        parts.append(f'<text x="{x:.0f}" y="{top + size + 18}" text-anchor="middle">{tenth / 10:g}</text>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{tenth / 10:g}</text>')
    for number, ((name, bins), colour) in enumerate(zip(sets.items(), _COLOURS, strict=False)):
        points = [place(each.predicted, each.observed) for each in bins]
        line = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        parts.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2 + 10 * each.weight**0.5:.1f}" fill="{colour}" opacity="0.5"/>'
            for (x, y), each in zip(points, bins, strict=True)
        ]
        row = top + 20 + 22 * number
        parts.append(f'<circle cx="{left + size + 20}" cy="{row - 4}" r="6" fill="{colour}"/>')
        parts.append(f'<text x="{left + size + 34}" y="{row}">{html.escape(name)}</text>')
    parts.append(f'<text x="{left + size / 2}" y="{top + size + 40}" text-anchor="middle">relevance</text>')
    parts.append(
        f'<text transform="translate(18 {top + size / 2}) rotate(-90)" text-anchor="middle">share that answers</text>'
    )
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"
