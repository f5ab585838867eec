"""Quality of vector search by the context that is embedded with a passage, on each judged set."""

from collections.abc import Iterator

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, say
from benchmarks.peers.encode import encode
from sourcebook.embedding.engine import choose_precision
from sourcebook.evaluation.measures import score

_PASSAGES = """
SELECT regexp_replace(document.uri, '^.*/|[.]md$', '', 'g'), chunk.context, chunk.text,
       coalesce(right(lag(chunk.text) OVER (PARTITION BY chunk.document_id ORDER BY chunk.ordinal), %(tail)s), '')
FROM chunk JOIN document ON document.id = chunk.document_id
WHERE document.collection = %(collection)s ORDER BY chunk.document_id, chunk.ordinal
"""
_TAIL = 200
"""Characters of the previous passage that are embedded with a passage."""
_SETS = ("scifact", "cranfield")


def context_rows(bench: Bench) -> Iterator[Row]:
    """Embed every passage alone, with its title and headings, and with the end of the previous passage."""
    for name in _SETS:
        known = bench.retrieval_sets.get(name)
        if known is None:
            continue
        with bench.retrieval_library.database() as database, database.connection() as connection:
            rows = connection.execute(_PASSAGES, {"collection": name, "tail": _TAIL}).fetchall()
        _, questions = encode(list(known.questions.values()), bench.folder, precision="float32", query=True)
        documents = np.array([document for document, *_ in rows])
        texts = {
            "the passage alone": [text for _, _, text, _ in rows],
            "with title and headings": [context + text for _, context, text, _ in rows],
            "with the end of the one before, too": [f"{context}{tail} {text}" for _, context, text, tail in rows],
        }
        for what, passages in texts.items():
            say(f"  {name}, {what}: encoding {len(passages):,} passages …")
            _, vectors = encode(passages, bench.folder, precision=choose_precision())
            order = np.argsort(-(questions @ vectors.T), axis=1, kind="stable")[:, :100]
            rankings = {
                question: list(dict.fromkeys(documents[places].tolist()))
                for question, places in zip(known.questions, order, strict=True)
            }
            scores = score(known.relevant, rankings, ["ndcg@10"])
            mean = float(np.mean([each["ndcg@10"] for each in scores.values()]))
            yield Row(f"nDCG@10, {name}, vector, embedded {what}", mean, "nDCG")
