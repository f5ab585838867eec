"""A comparison of ways to cut, embed and order a collection, over a sample of it and on its own questions.

>>> from sourcebook import KnowledgeBase
>>> from sourcebook.evaluation.bakeoff import Choices, bakeoff
>>> with KnowledgeBase.connect() as knowledge:  # doctest: +SKIP
...     found = bakeoff(knowledge, "handbook", Choices(tokens=("128", "256", "512")))
...     print(found.best and found.best.yaml)
"""

from pathlib import Path

from sourcebook.evaluation.bakeoff.candidates import RANKINGS, Choices, Indexing, Ranking
from sourcebook.evaluation.bakeoff.outcome import Bakeoff, BakeoffPlan, Line
from sourcebook.evaluation.bakeoff.planning import QUESTIONS, SAMPLE, PreparedBakeoff, prepare_bakeoff
from sourcebook.evaluation.bakeoff.run import Shown, run_bakeoff
from sourcebook.knowledge_base import KnowledgeBase

__all__ = [
    "QUESTIONS",
    "RANKINGS",
    "SAMPLE",
    "Bakeoff",
    "BakeoffPlan",
    "Choices",
    "Indexing",
    "Line",
    "PreparedBakeoff",
    "Ranking",
    "bakeoff",
    "prepare_bakeoff",
    "run_bakeoff",
]


def bakeoff(
    knowledge: KnowledgeBase,
    collection: str,
    choices: Choices | None = None,
    *,
    queries_file: Path | None = None,
    qrels: Path | None = None,
    sample: int = SAMPLE,
    limit: int = QUESTIONS,
    progress: Shown = lambda now, done, total: None,
) -> Bakeoff:
    """Plan a bakeoff and run it; see `prepare_bakeoff` and `run_bakeoff` for arguments and errors."""
    prepared = prepare_bakeoff(
        knowledge, collection, choices, queries_file=queries_file, qrels=qrels, sample=sample, limit=limit
    )
    return run_bakeoff(prepared, progress)
