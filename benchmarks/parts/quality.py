"""Retrieval quality on judged sets: each mode of search, alternatives to the defaults, an oracle, and `ts_rank`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from benchmarks.corpora.judged_sets import RetrievalSet
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, grid, say
from benchmarks.peers.encode import encode
from benchmarks.peers.keyword_peers import Peers, compare_with_peers
from benchmarks.peers.passage_vectors import context_rows
from sourcebook.contract.fusion import Fusion
from sourcebook.evaluation.intervals import estimate_means
from sourcebook.evaluation.measures import score
from sourcebook.evaluation.scores import Estimate
from sourcebook.knowledge_base import KnowledgeBase

DEPTH = 10
WAYS: dict[str, dict[str, object]] = {
    "keyword": {"mode": "keyword"},
    "vector": {"mode": "vector"},
    "hybrid": {},
    "hybrid by rrf": {"fusion": Fusion("rrf")},
    "all languages alike": {"fusion": Fusion(by_language=False)},
    "rrf, all languages alike": {"fusion": Fusion("rrf", by_language=False)},
    "30 candidates": {"fusion": Fusion(depth=30)},
    "50 candidates": {"fusion": Fusion(depth=50)},
    "200 candidates": {"fusion": Fusion(depth=200)},
}
"""`hybrid` is the default: a weighted sum over 100 candidates of each leg, the vector leg's weight by language."""
_PUBLISHED = 0.645
"""nDCG@10 of all-MiniLM-L6-v2 on SciFact, in the MTEB leaderboard: whole documents, cut at 256 tokens."""
_BARS = {
    ("keyword", "scifact"): 0.670,
    ("keyword", "cranfield"): 0.355,
    ("hybrid", "scifact"): 0.725,
    ("hybrid", "cranfield"): 0.405,
    ("keyword", "xquad-de"): 0.90,
    ("keyword", "xquad-es"): 0.90,
    ("keyword", "xquad-ru"): 0.90,
}


@dataclass(frozen=True)
class Judged:
    """Measures of one judged set."""

    values: dict[str, list[float]]
    """nDCG@10 of each question, by mode of search."""
    estimates: dict[str, Estimate]


def run(bench: Bench) -> list[Row]:
    """Score passages through the knowledge base, then whole documents by numpy alone."""
    sets = bench.retrieval_sets
    if not sets:
        return [Row("nDCG@10", None, note="run with --retrieval FOLDER, which holds scifact/")]
    with bench.retrieval_library.knowledge() as knowledge:
        judged = {name: _judge(knowledge, name, known) for name, known in sets.items()}
        peers = {name: compare_with_peers(knowledge.database, name, known) for name, known in sets.items()}
    _show(judged, peers)
    return [
        *_bar_rows(judged),
        *_fusion_rows(judged),
        *chain.from_iterable(each.rows(name) for name, each in peers.items()),
        *_whole_documents(bench),
        *(context_rows(bench) if bench.options.full else []),
    ]


def ndcg(known: RetrievalSet, rankings: Mapping[str, list[str]]) -> list[float]:
    """Return the nDCG@10 of each question, in the order of the questions."""
    scores = score(known.relevant, rankings, ["ndcg@10"])
    return [scores[question]["ndcg@10"] for question in known.questions]


def _judge(knowledge: KnowledgeBase, name: str, known: RetrievalSet) -> Judged:
    rankings: dict[str, dict[str, list[str]]] = {way: {} for way in WAYS}
    for question, text in known.questions.items():  # in every way, while its vector is remembered
        for way, options in WAYS.items():
            rankings[way][question] = documents_found(knowledge, name, text, options)
    values = {way: ndcg(known, found) for way, found in rankings.items()}
    estimates = dict(zip(WAYS, estimate_means(np.transpose(list(values.values()))), strict=True))
    say(f"  {name}: {', '.join(f'{way} {estimate.mean:.4f}' for way, estimate in estimates.items())}")
    return Judged(values, estimates)


def documents_found(knowledge: KnowledgeBase, name: str, text: str, options: Mapping[str, object]) -> list[str]:
    everything = {"group_by": "document", "literal": True, "min_relevance": 0, **options}
    hits = knowledge.search(text, name, DEPTH, **everything)  # type: ignore[arg-type]
    return [hit.uri.rpartition("/")[2].removesuffix(".md") for hit in hits]


def _show(judged: Mapping[str, Judged], peers: Mapping[str, Peers]) -> None:
    lines = [(way, *(f"{each.estimates[way].mean:.4f}" for each in judged.values())) for way in WAYS]
    lines.append(("ts_rank", *(f"{each.rank.mean:.4f}" for each in peers.values())))
    print(f"nDCG@10\n\n{grid([('', *judged), *lines])}\n")


def _bar_rows(judged: Mapping[str, Judged]) -> Iterator[Row]:
    for name, each in judged.items():
        for way in ("keyword", "vector", "hybrid", "hybrid by rrf"):
            estimate = each.estimates[way]
            note = f"95 %: {estimate.low:.3f} to {estimate.high:.3f}"
            yield Row(f"nDCG@10, {name}, {way}", estimate.mean, "nDCG", _BARS.get((way, name)), note, at_least=True)


def _fusion_rows(judged: Mapping[str, Judged]) -> Iterator[Row]:
    """Compare hybrid search with the better of its legs, question by question."""
    for name, each in judged.items():
        better = max(("keyword", "vector"), key=lambda way: each.estimates[way].mean)
        gains = np.subtract(each.values["hybrid"], each.values[better])
        (estimate,) = estimate_means(gains[:, None])
        note = f"{better}; 95 %: {estimate.low:+.3f} to {estimate.high:+.3f}"
        bar = 0.0 if ("hybrid", name) in _BARS else -0.005
        yield Row(f"hybrid less the better leg, {name}", estimate.mean, "nDCG", bar, note, at_least=True)


def _whole_documents(bench: Bench) -> Iterator[Row]:
    """Score the model as in its published figure: one vector a document, cut off at the model's limit."""
    known = bench.retrieval_set
    if known is None:
        return
    means = {}
    for precision in ("float32", "bfloat16"):
        say(f"  {precision}: encoding {len(known.documents):,} whole documents …")
        _, passages = encode(
            [f"{title}\n\n{text}" for title, text in known.documents.values()], bench.folder, precision=precision
        )
        _, questions = encode(list(known.questions.values()), bench.folder, precision=precision, query=True)
        identities = list(known.documents)
        nearest = np.argsort(-(questions @ passages.T), axis=1, kind="stable")[:, :DEPTH]
        rankings = {
            question: [identities[place] for place in row]
            for question, row in zip(known.questions, nearest, strict=True)
        }
        means[precision] = float(np.mean(ndcg(known, rankings)))
    size = f"{len(known.documents):,} documents, {len(known.questions)} questions"
    yield Row("nDCG@10, scifact, one float32 vector a document", means["float32"], "nDCG", note=size)
    off = abs(means["float32"] - _PUBLISHED)
    yield Row(f"how far that is from the published {_PUBLISHED}", off, "nDCG", 0.015)
    yield Row("nDCG@10 lost by bfloat16", means["float32"] - means["bfloat16"], "nDCG", 0.002)
