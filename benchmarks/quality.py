"""Retrieval quality on SciFact: what bfloat16 costs, and what each way of searching finds."""

from pathlib import Path

import numpy as np

from benchmarks.bench import Bench
from benchmarks.encode import encode
from benchmarks.report import Row, say
from benchmarks.retrieval import RetrievalSet, ndcg
from benchmarks.search import KnownQueries
from sourcebook.knowledge_base import KnowledgeBase

_DEPTH = 10
_PASSAGES = 60
"""Looked at until ten different documents are found."""


def run(bench: Bench) -> list[Row]:
    """Score whole documents by numpy alone, then passages through the knowledge base."""
    known = bench.retrieval_set
    if known is None:
        return [Row("nDCG@10 on SciFact", None, note="run with --retrieval FOLDER, which holds scifact/")]
    scores = {}
    for precision in ("float32", "bfloat16"):
        scores[precision] = _vectors_alone(bench, known, precision)
        say(f"  {precision}: nDCG@10 {scores[precision]:.4f}")
    size = f"{len(known.documents):,} documents, {len(known.questions)} questions"
    rows = [
        Row("nDCG@10 on SciFact, float32 vectors alone", scores["float32"], "nDCG", note=size),
        Row("nDCG@10 on SciFact, bfloat16 vectors alone", scores["bfloat16"], "nDCG"),
        Row("nDCG@10 lost by bfloat16", scores["float32"] - scores["bfloat16"], "nDCG", 0.002),
    ]
    return rows + _through_knowledge_base(bench, known)


def _vectors_alone(bench: Bench, known: RetrievalSet, precision: str) -> float:
    say(f"  {precision}: encoding {len(known.documents):,} documents …")
    _, passages = encode(
        [f"{title}\n\n{text}" for title, text in known.documents.values()], bench.folder, precision=precision
    )
    _, questions = encode(list(known.questions.values()), bench.folder, precision=precision, query=True)
    identities = list(known.documents)
    nearest = np.argsort(-(questions @ passages.T), axis=1, kind="stable")[:, :_DEPTH]
    return float(
        np.mean(
            [
                ndcg([identities[position] for position in row], known.relevant[question])
                for question, row in zip(known.questions, nearest, strict=True)
            ]
        )
    )


def _through_knowledge_base(bench: Bench, known: RetrievalSet) -> list[Row]:
    texts = list(dict.fromkeys(known.questions.values()))
    _, vectors = encode(texts, bench.folder, precision="float32", query=True)
    rows = []
    with bench.retrieval_library.database() as database:
        knowledge = KnowledgeBase(database, query_embedder=KnownQueries(texts, vectors))
        for mode in ("vector", "keyword", "hybrid"):
            scores = []
            for question, text in known.questions.items():
                hits = knowledge.search(text, limit=_PASSAGES, mode=mode)
                found = list(dict.fromkeys(Path(hit.uri).stem for hit in hits))
                scores.append(ndcg(found, known.relevant[question]))
            rows.append(Row(f"nDCG@10 on SciFact, {mode} search", float(np.mean(scores)), "nDCG"))
    return rows
