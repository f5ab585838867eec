"""Evaluation of search on questions whose answers are known.

>>> from sourcebook import KnowledgeBase
>>> from sourcebook.evaluation import evaluate
>>> with KnowledgeBase.connect() as knowledge:  # doctest: +SKIP
...     found = evaluate(knowledge, "handbook", "queries.jsonl", "qrels.tsv")
...     print(found.of("hybrid").estimates["ndcg@10"])
"""

from sourcebook.evaluation.baseline import Baseline, compare_generations, compare_with_baseline, read_baseline
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.evaluation.evaluate import evaluate
from sourcebook.evaluation.floors import Floor, MissedFloor, check_floors, missed_floors
from sourcebook.evaluation.scores import Difference, Estimate, Evaluation, ModeScores

__all__ = [
    "Baseline",
    "Difference",
    "Estimate",
    "Evaluation",
    "EvaluationError",
    "Floor",
    "MissedFloor",
    "ModeScores",
    "check_floors",
    "compare_generations",
    "compare_with_baseline",
    "evaluate",
    "missed_floors",
    "read_baseline",
]
