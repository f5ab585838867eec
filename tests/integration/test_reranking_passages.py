"""Text of published passages as a cross encoder reads it."""

from pathlib import Path

import numpy as np

from sourcebook.contract.reranking import Reranking
from sourcebook.search.page.read_results import read_results
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.order import rerank
from sourcebook.search.ranking.passages import read_texts
from sourcebook.search.ranking.reranking.reranker import Reranker
from tests.integration.published_passages import publish_passages
from tests.integration.stages import Stages
from tests.tiny_cross_encoder import build_cross_encoder

WORDS = ["document", "top", "the", "tide", "is", "high", "low", "at", "noon"]


def test_passages_are_read_below_their_titles_and_keep_their_scores(stages: Stages, tmp_path: Path) -> None:
    """The model sees title, headings and text, as it was embedded; a result has the score of the model."""
    from sentence_transformers import CrossEncoder  # takes seconds in every process that collects tests

    cross_encoder = build_cross_encoder(tmp_path / "cross-encoder", WORDS)
    stages.configure()
    random = np.random.default_rng(1)
    generation = publish_passages(stages, [[" ".join(random.choice(WORDS, size=6)) for _ in range(12)]])
    rows = stages.rows("SELECT id, ordinal, text FROM chunk ORDER BY ordinal")
    ranking = [Candidate(row["id"], 1 / (row["ordinal"] + 1), 100) for row in rows]
    reranker = Reranker()
    with stages.connection() as connection:
        texts = read_texts(connection, [generation.id], [*(row["id"] for row in rows), 10**9])
        reranked = rerank(reranker, Reranking(str(cross_encoder), top=10, timeout=None), "the tide", ranking, texts)
        results = read_results(connection, [generation.id], reranked.candidates)
    reranker.close()
    assert texts == {row["id"]: f"Document 0 > Top\n\n{row['text']}" for row in rows}
    pairs = [("the tide", f"Document 0 > Top\n\n{row['text']}") for row in rows[:10]]
    scores = CrossEncoder(str(cross_encoder)).predict(pairs)
    best_first = np.argsort(-scores, kind="stable").tolist()
    assert [result.ordinal for result in results] == [*best_first, 10, 11]
    told = [result.rerank_score or 0 for result in results[:10]]
    assert np.allclose(told, scores[best_first], atol=1e-5)
    assert [result.rerank_score for result in results[10:]] == [None, None]
    assert [result.score for result in results] == [1 / (result.ordinal + 1) for result in results]
