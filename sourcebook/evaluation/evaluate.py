"""Evaluation of a collection: ask judged queries, score the rankings, compare the modes of search."""

import statistics
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Final, get_args

from sourcebook.config.evaluation import Measure
from sourcebook.contract.fusion import Method
from sourcebook.contract.search import MEASURING, MOST_RESULTS, Mode
from sourcebook.errors import QueryError
from sourcebook.evaluation.intervals import SAMPLES, summarise
from sourcebook.evaluation.judged_documents import find_judged_documents
from sourcebook.evaluation.judged_queries import JudgedQueries, read_judged_queries, recorded_queries
from sourcebook.evaluation.measures import measures_within, require_ir_measures, score
from sourcebook.evaluation.scores import Evaluation
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.progress import Progress, silent

MODES: Final[tuple[Mode, ...]] = get_args(Mode)
LEAST_DEPTH: Final = 10
"""Documents of a ranking that are scored, at least."""
MOST_DEPTH: Final = MOST_RESULTS
"""Documents of a ranking that are scored, at most."""


def evaluate(
    knowledge: KnowledgeBase,
    collection: str,
    queries: str | PathLike[str] | None = None,
    qrels: str | PathLike[str] | None = None,
    *,
    modes: Sequence[Mode] = MODES,
    depth: int = 100,
    limit: int | None = None,
    progress: Progress = silent,
    generation: int | None = None,
) -> Evaluation:
    """Return how well a collection answers queries whose answers are known.

    Documents are ranked, not passages: each has the rank of its best passage. Queries are asked one after the other, as
    literal text without operators.

    Args:
        knowledge: the knowledge base.
        collection: the name of the collection.
        queries: path of JSON lines, `{"id", "text"}`. Without both files, the judgments that people recorded are asked.
        qrels: path of judgments: query, document and grade, or TREC's four columns. `match_documents` says how they
            name documents.
        modes: modes of search; the first is compared with each other one.
        depth: number of documents of a ranking that are scored, 10 to 1,000. Measures of more documents are left out.
        limit: the most queries asked, the first ones with a relevant document; all where None.
        progress: called after each query with the number of queries done and their total, over all modes.
        generation: id of a generation of the collection; the active one where None.

    Raises:
        EvaluationError: a file is wrong, an id of the judgments is ambiguous, or none names a document.
        QueryError: the collection does not exist, one of the files is missing, or an argument is not allowed.
        ModelError: the embedding model cannot be loaded.
        MissingDependencyError: ir-measures is not installed.
    """
    require_ir_measures()
    _check(modes, depth, limit)
    asked = _asked(knowledge, collection, queries, qrels, limit)
    judged = find_judged_documents(knowledge, collection, asked)
    copies = frozenset(document for grades in judged.grades.values() for document in grades)
    measures = measures_within(depth)
    values: dict[Mode, dict[str, dict[Measure, float]]] = {}
    medians: dict[Mode, float] = {}
    for number, mode in enumerate(modes):
        rankings, medians[mode] = ask_all(
            partial(
                rank_documents, knowledge, collection, depth=depth, mode=mode, generation=generation, judged=copies
            ),
            knowledge,
            asked.texts,
            _part(progress, number, len(modes), len(asked.texts)),
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
        generation=generation,
        unfinished=() if generation is None else _unfinished(knowledge, collection, generation),
    )


def _asked(
    knowledge: KnowledgeBase,
    collection: str,
    queries: str | PathLike[str] | None,
    qrels: str | PathLike[str] | None,
    limit: int | None,
) -> JudgedQueries:
    if queries is not None and qrels is not None:
        return read_judged_queries(Path(queries), Path(qrels), limit)
    if queries is not None or qrels is not None:
        raise QueryError("queries and judgments belong together: give both files, or none for the recorded judgments")
    with knowledge.database.connection() as connection:
        return recorded_queries(connection, collection, limit)


def _unfinished(knowledge: KnowledgeBase, collection: str, generation: int) -> tuple[str, ...]:
    """Return a sentence where a generation lacks documents, so that its figures are lower than they will be."""
    return tuple(
        f"generation {state.id} has {state.documents:,} of {state.live_documents:,} documents"
        for state in knowledge.generations(collection)
        if state.id == generation and state.progress < 1
    )


def ask_all(
    rank: Callable[[str], list[int]], knowledge: KnowledgeBase, texts: Mapping[str, str], progress: Progress
) -> tuple[dict[str, list[str]], float]:
    """Return each query's ranking by its id, and the median milliseconds per query, one after the other."""
    rankings: dict[str, list[str]] = {}
    times: list[float] = []
    rank(next(iter(texts.values())))  # loads the model
    knowledge.forget_queries()  # otherwise only the first mode would take the time of embedding
    for query, text in texts.items():
        started = time.perf_counter()
        ranking = rank(text)
        times.append((time.perf_counter() - started) * 1000)
        rankings[query] = [str(document) for document in ranking]
        progress(len(rankings), len(texts))
    return rankings, round(statistics.median(times), 3)


def _part(progress: Progress, number: int, parts: int, size: int) -> Progress:
    """Return a progress function for one of several parts of equal size."""
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


def rank_documents(
    knowledge: KnowledgeBase,
    collection: str,
    query: str,
    *,
    depth: int,
    mode: Mode,
    generation: int | None = None,
    fusion: Method | None = None,
    judged: Collection[str] = (),
) -> list[int]:
    """Return the ids of at most `depth` documents, best first; each has the rank of its best passage.

    Of documents that hold the same passage, those in `judged` stand for all; without one, the first does.
    """
    results = knowledge.search(
        query,
        collection,
        limit=depth,
        mode=mode,
        group_by="document",
        literal=True,
        generation=generation,
        fusion=fusion,
        unredacted=True,
        **MEASURING,
    )
    ranking: list[int] = []
    for result in results:
        same = [result.document_id, *(copy.document_id for copy in result.also_in)]
        ranking += [document for document in same if str(document) in judged] or same[:1]
    return list(dict.fromkeys(ranking))[:depth]
