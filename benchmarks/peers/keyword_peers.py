"""The keyword leg beside an oracle that computes the same in plain Python, and beside `ts_rank`."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.corpora.judged_sets import RetrievalSet
from benchmarks.harness.latency import Latency, ask_each
from benchmarks.harness.report import Row, say
from benchmarks.peers.plain_bm25 import Agreement, PlainBM25, agreement
from benchmarks.peers.sql_rankings import rank_by_full_text
from sourcebook.database.database import Database
from sourcebook.evaluation.intervals import estimate_means
from sourcebook.evaluation.measures import score
from sourcebook.evaluation.scores import Estimate
from sourcebook.search.query_terms import query_terms
from sourcebook.search.ranking.keyword_leg import keyword_ranking
from sourcebook.search.ranking.leg import LegRanking
from sourcebook.search.scope import find_scope

DEPTH = 100
_ORACLE_DEPTH = 300
_DOCUMENTS = """
SELECT search_entry.chunk_id, regexp_replace(document.uri, '^.*/|[.]md$', '', 'g')
FROM search_entry JOIN document ON document.id = search_entry.document_id WHERE search_entry.generation_id = ANY(%s)
"""


@dataclass(frozen=True)
class Peers:
    """Measures of the keyword leg and its peers on one judged set."""

    agreements: list[Agreement]
    """Agreement of the keyword leg's SQL with the oracle, by question."""
    rank: Estimate
    """nDCG@10 of `ts_rank`, 0 to 1."""
    by_bm25: Latency
    """Latency of the 100 best passages."""
    by_rank: Latency

    def rows(self, name: str) -> Iterator[Row]:
        """Return the rows of the table."""
        largest = max(each.largest_difference for each in self.agreements)
        same = float(np.mean([each.same for each in self.agreements]))
        interval = f"95 %: {self.rank.low:.3f} to {self.rank.high:.3f}"
        yield Row(f"BM25 in SQL against plain Python, {name}: largest difference", largest, "relative", 1e-3)
        yield Row(f"the same top 10, {name}", same, "%", 1.0, f"{len(self.agreements)} questions", at_least=True)
        yield Row(f"nDCG@10, {name}, ts_rank", self.rank.mean, "nDCG", note=interval)
        for measure, latency in (("BM25", self.by_bm25), ("ts_rank", self.by_rank)):
            yield Row(f"best {DEPTH} by {measure}, {name}, p95", latency.p95, "ms", note=f"p50 {latency.p50:.1f} ms")


def compare_with_peers(database: Database, name: str, known: RetrievalSet) -> Peers:
    """Ask every question of the keyword leg's SQL, of the oracle, and of `ts_rank`."""
    questions = list(known.questions.values())
    with database.connection() as connection:
        scope = find_scope(connection, [name])
        (generation,) = scope.ids
        terms = {text: query_terms(connection, scope, text) for text in questions}
        oracle = PlainBM25.of_generation(connection, generation)
        documents = dict(connection.execute(_DOCUMENTS, [scope.ids]).fetchall())

        def by_bm25(text: str) -> LegRanking:
            return keyword_ranking(connection, scope, terms[text], DEPTH)

        def by_rank(text: str) -> LegRanking:
            return rank_by_full_text(connection, generation, terms[text], DEPTH)

        agreements = [
            agreement(by_bm25(text), oracle.ranking(oracle.readings(connection, text), _ORACLE_DEPTH))
            for text in questions
        ]
        rankings = {
            question: list(dict.fromkeys(documents[chunk] for chunk, _ in by_rank(text)))
            for question, text in known.questions.items()
        }
        latencies = ask_each(by_bm25, questions), ask_each(by_rank, questions)
    scores = score(known.relevant, rankings, ["ndcg@10"])
    (rank,) = estimate_means([[scores[question]["ndcg@10"]] for question in known.questions])
    say(f"  {name}: {len(questions):,} questions compared with the oracle and ts_rank")
    return Peers(agreements, rank, *latencies)
