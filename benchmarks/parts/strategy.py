"""Strategy by query: nDCG@10 of `strategy="auto"` less that of the fixed default, and on 200 mixed queries."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from statistics import fmean
from typing import Any

from benchmarks.corpora.judged_sets import RetrievalSet
from benchmarks.corpora.mixed_documents import make_library
from benchmarks.corpora.mixed_library import MixedQuery, read_queries
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION
from benchmarks.harness.report import Row, grid, say
from sourcebook.evaluation.intervals import estimate_means
from sourcebook.evaluation.measures import score
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.search.query_syntax import parse_query
from sourcebook.search.ranking.strategy import strategy_of

_DEPTH = 10
_LEAST = -0.003
"""Gain on a shared set, at least."""
_CHOICES = ("fixed", "auto")


def run(bench: Bench) -> list[Row]:
    """Ask both ways."""
    library = bench.library("mixed")
    make_library().write(library.files)
    say(f"  first ingest of {len(library.paths()):,} files …")
    library.ingest()
    with library.knowledge() as knowledge:
        rows = list(_mixed_rows(knowledge, read_queries()))
    bench.drop(library)
    if not bench.retrieval_sets:
        return [*rows, Row("auto less fixed, shared sets", None, note="run with --retrieval FOLDER")]
    with bench.retrieval_library.knowledge() as knowledge:
        rows += [_shared_row(knowledge, name, known) for name, known in bench.retrieval_sets.items()]
    return rows


def _mixed_rows(knowledge: KnowledgeBase, queries: list[MixedQuery]) -> Iterator[Row]:
    values = {choice: [_ndcg(knowledge, query, choice) for query in queries] for choice in _CHOICES}
    lines = []
    for kind, numbers in groupby(range(len(queries)), key=lambda number: queries[number].kind):
        of_kind = list(numbers)
        means = [
            fmean(values[choice][number] for number in of_kind if queries[number].part == part)
            for part in ("work", "report")
            for choice in _CHOICES
        ]
        lines.append((kind, str(len(of_kind)), *(f"{mean:.3f}" for mean in means)))
    print(f"nDCG@10\n\n{grid([('kind', 'queries', 'work: fixed', 'auto', 'report: fixed', 'auto'), *lines])}\n")
    for part in ("work", "report"):
        chosen = [number for number, query in enumerate(queries) if query.part == part]
        fixed, auto, gain = estimate_means(
            [
                [values["fixed"][number], values["auto"][number], values["auto"][number] - values["fixed"][number]]
                for number in chosen
            ]
        )
        for name, estimate in (("fixed", fixed), ("auto", auto)):
            note = f"95 %: {estimate.low:.3f} to {estimate.high:.3f}"
            yield Row(f"nDCG@10, mixed queries, {part}, {name}", estimate.mean, "nDCG", note=note)
        note = f"95 %: {gain.low:+.3f} to {gain.high:+.3f}"
        bar = 0.0 if part == "report" else None
        yield Row(f"auto less fixed, mixed queries, {part}", gain.mean, "nDCG", bar, note, at_least=True)


def _shared_row(knowledge: KnowledgeBase, name: str, known: RetrievalSet) -> Row:
    """Return the gain on a shared set. A query that the strategy leaves as it is has the same results by both."""
    changed = {
        question: text
        for question, text in known.questions.items()
        if strategy_of(parse_query(text, literal=True)).changes_search
    }
    rankings: dict[str, dict[str, list[str]]] = {
        choice: {
            question: [
                path.rpartition("/")[2].removesuffix(".md")
                for path in _paths(knowledge, text, name, {"strategy": choice, "literal": True})
            ]
            for question, text in changed.items()
        }
        for choice in _CHOICES
    }
    found = {choice: score(known.relevant, ranking, ["ndcg@10"]) for choice, ranking in rankings.items()}
    gains = [
        found["auto"][question]["ndcg@10"] - found["fixed"][question]["ndcg@10"] if question in changed else 0.0
        for question in known.questions
    ]
    (gain,) = estimate_means([[each] for each in gains])
    note = f"{len(changed)} of {len(gains):,} questions searched otherwise; 95 %: {gain.low:+.4f} to {gain.high:+.4f}"
    return Row(f"auto less fixed, {name}", gain.mean, "nDCG", _LEAST, note, at_least=True)


def _ndcg(knowledge: KnowledgeBase, query: MixedQuery, choice: str) -> float:
    ranking = [uri.rpartition("/files/")[2] for uri in _paths(knowledge, query.text, COLLECTION, {"strategy": choice})]
    return score({query.text: query.relevant}, {query.text: ranking}, ["ndcg@10"])[query.text]["ndcg@10"]


def _paths(knowledge: KnowledgeBase, text: str, collection: str, options: Mapping[str, Any]) -> list[str]:
    """Return the URIs of the documents found."""
    return [
        hit.uri for hit in knowledge.search(text, collection, _DEPTH, group_by="document", min_relevance=0, **options)
    ]
