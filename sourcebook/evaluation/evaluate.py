"""Evaluate a collection: ask judged queries, score the rankings, compare the ways of searching."""

import statistics
import time
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Final, get_args

from sourcebook.config.evaluation import Measure
from sourcebook.errors import QueryError
from sourcebook.evaluation.intervals import SAMPLES, summarise
from sourcebook.evaluation.judged_documents import find_judged_documents
from sourcebook.evaluation.judged_queries import JudgedQueries, read_judged_queries
from sourcebook.evaluation.measures import measures_within, require_ir_measures, score
from sourcebook.evaluation.scores import Evaluation
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.progress import Progress, silent
from sourcebook.search.request import MOST_RESULTS, Mode

MODES: Final[tuple[Mode, ...]] = get_args(Mode)
LEAST_DEPTH: Final = 10
MOST_DEPTH: Final = MOST_RESULTS


def evaluate(
    knowledge: KnowledgeBase,
    collection: str,
    queries: str | PathLike[str],
    qrels: str | PathLike[str],
    *,
    modes: Sequence[Mode] = MODES,
    depth: int = 100,
    limit: int | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Measure how well a collection answers queries whose answers are known.

    Documents are ranked, not passages: each stands where its best passage does. Queries are asked one after the other,
    literally: what would be an operator of the query language is text.

    Args:
        knowledge: the knowledge base that is asked.
        collection: the name of the collection.
        queries: path of JSON lines, `{"id", "text"}`.
        qrels: path of judgments: query, document and grade, or TREC's four columns. How a document is named there:
            see `match_documents`.
        modes: ways of searching; the first one is compared with each other one.
        depth: how many documents of a ranking are looked at, 10 to 1,000. Measures that look further are left out.
        limit: the most queries asked, the first ones that have a relevant document; all of them where None.
        progress: called after each query with how many are done, of how many, over all modes.

    Raises:
        EvaluationError: a file is wrong, an id of the judgments is ambiguous, or none names a document.
        QueryError: the collection does not exist, or an argument makes no sense.
        ModelError: the embedding model cannot be loaded.
        MissingDependencyError: ir-measures is not installed.
    """
    require_ir_measures()
    _check(modes, depth, limit)
    asked = read_judged_queries(Path(queries), Path(qrels), limit)
    judged = find_judged_documents(knowledge, collection, asked)
    measures = measures_within(depth)
    values: dict[Mode, dict[str, dict[Measure, float]]] = {}
    medians: dict[Mode, float] = {}
    for number, mode in enumerate(modes):
        rankings, medians[mode] = _ask(
            knowledge, collection, asked, depth, mode, _part(progress, number, len(modes), len(asked.texts))
        )
        values[mode] = score(judged.grades, rankings, measures)
    scores, differences = summarise(values, medians, measures)
    return Evaluation(
        collection=collection,
        queries=len(asked.texts),
        depth=depth,
        samples=SAMPLES,
        modes=scores,
        differences=differences,
        unjudged=asked.unjudged,
        without_relevant=asked.without_relevant,
        unmatched=judged.unmatched,
    )


def _ask(
    knowledge: KnowledgeBase, collection: str, asked: JudgedQueries, depth: int, mode: Mode, progress: Progress
) -> tuple[dict[str, list[str]], float]:
    """Return each query's ranking and the median of the milliseconds that they took."""
    rankings: dict[str, list[str]] = {}
    times: list[float] = []
    rank_documents(knowledge, collection, next(iter(asked.texts.values())), depth=depth, mode=mode)  # loads the model
    knowledge.forget_queries()  # else only the first mode would take the time of embedding
    for query, text in asked.texts.items():
        started = time.perf_counter()
        ranking = rank_documents(knowledge, collection, text, depth=depth, mode=mode)
        times.append((time.perf_counter() - started) * 1000)
        rankings[query] = [str(document) for document in ranking]
        progress(len(rankings), len(asked.texts))
    return rankings, round(statistics.median(times), 3)


def _part(progress: Progress, number: int, parts: int, size: int) -> Progress:
    """Return the progress of one of several parts of equal size."""
    return lambda done, total, failed=0: progress(number * size + done, parts * size, failed)


def _check(modes: Sequence[Mode], depth: int, limit: int | None) -> None:
    wrong = [mode for mode in modes if mode not in MODES]
    if wrong or not modes or len(set(modes)) < len(modes):
        raise QueryError(
            f"the modes are {', '.join(map(repr, modes)) or 'none'}; each of {', '.join(MODES)} may be one"
        )
    if not LEAST_DEPTH <= depth <= MOST_DEPTH:
        raise QueryError(f"the depth is {depth}; it must be {LEAST_DEPTH} to {MOST_DEPTH:,}")
    if limit is not None and limit < 1:
        raise QueryError(f"the limit is {limit}; at least one query is asked")


def rank_documents(knowledge: KnowledgeBase, collection: str, query: str, *, depth: int, mode: Mode) -> list[int]:
    """Return the ids of at most `depth` documents, best first; each stands where its best passage does."""
    results = knowledge.search(query, collection, limit=depth, mode=mode, group_by="document", literal=True)
    return [result.document_id for result in results]
