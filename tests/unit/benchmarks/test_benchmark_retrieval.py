import json
import math
from pathlib import Path

import pytest

from benchmarks.retrieval import ndcg, read_retrieval_set


def test_ndcg_is_one_for_the_best_order_and_less_for_others() -> None:
    """Gain is discounted by log2(rank + 1) and divided by the best possible."""
    grades = {"a": 1, "b": 1}
    assert ndcg(["a", "b", "c"], grades) == 1
    assert ndcg(["c", "a"], grades) == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))
    assert ndcg(["c"], grades) == 0


def test_a_limit_leaves_out_questions_without_an_answer(tmp_path: Path) -> None:
    """A trial over few documents stays meaningful."""
    rows = [{"id": str(number), "title": f"t{number}", "text": "x"} for number in range(3)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "queries.jsonl").write_text('{"id": "q", "text": "first?"}\n{"id": "r", "text": "last?"}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\t0\t1\nr\t2\t1\nq\t1\t0\n")
    known = read_retrieval_set(tmp_path, limit=2)
    assert list(known.documents) == ["0", "1"]
    assert known.questions == {"q": "first?"}
    assert known.relevant == {"q": {"0": 1}}
