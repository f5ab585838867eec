"""The questions of a bakeoff, asked of each candidate, and the figures of the lines that compare them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from sourcebook.admin.planning.forecast import forecast_seconds
from sourcebook.contract.fusion import Method
from sourcebook.contract.search import MEASURING, Mode
from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.database.stage_runs import stage_runs
from sourcebook.evaluation.bakeoff.building import BuiltIndex
from sourcebook.evaluation.bakeoff.candidates import Indexing, Ranking, search_options
from sourcebook.evaluation.bakeoff.made_questions import LEAST_ANSWER, Span
from sourcebook.evaluation.bakeoff.outcome import COLUMNS, TOKENS_READ, Line
from sourcebook.evaluation.bakeoff.planning import PreparedBakeoff
from sourcebook.evaluation.evaluate import ask_all, rank_documents
from sourcebook.evaluation.intervals import CONFIDENCE, estimate_means
from sourcebook.evaluation.measures import score
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.closing import Closing
from sourcebook.model.progress import Progress
from sourcebook.model.work import embedding_work

_DEPTH: Final = 10
"""Documents of a ranking that count."""
_PASSAGES_READ: Final = 40
"""Passages that are read, at most."""


@dataclass(frozen=True, slots=True)
class _Asked:
    indexing: Indexing
    ranking: Ranking
    built: BuiltIndex
    per_query: Mapping[str, Sequence[float]]
    """Question → values of `COLUMNS`."""
    ms_per_query: float


class Asker(Closing):
    """Asks the questions in the scratch database."""

    def __init__(self, scratch: Database, prepared: PreparedBakeoff) -> None:
        self._knowledge = KnowledgeBase(scratch)
        self._prepared = prepared
        self._asked: list[_Asked] = []

    def ask(self, indexing: Indexing, ranking: Ranking, built: BuiltIndex, progress: Progress) -> None:
        """Ask every question of a candidate."""
        mode, fusion = search_options(ranking)
        rank = partial(
            rank_documents,
            self._knowledge,
            self._prepared.plan.collection,
            depth=_DEPTH,
            mode=mode,
            fusion=fusion,
            generation=built.generation,
        )
        questions = self._prepared.questions
        rankings, median = ask_all(rank, self._knowledge, questions.texts, progress)
        scores = score(questions.grades, rankings, ("ndcg@10", "recall@10"))
        reads = self._reader(built.generation, mode, fusion)
        per_query = {
            query: (
                scores[query]["ndcg@10"],
                _hit(questions.grades[query], found),
                scores[query]["recall@10"],
                reads(query),
            )
            for query, found in rankings.items()
        }
        self._asked.append(_Asked(indexing, ranking, built, per_query, median))

    def _reader(self, generation: int, mode: Mode, fusion: Method | None) -> Callable[[str], float]:
        """Return a function: 1 where the answer of a question is in the first tokens of the results, else 0.

        That of a judged question is any passage of a relevant document; that of a made one is the text behind it.
        """
        questions, collection = self._prepared.questions, self._prepared.plan.collection
        with self._knowledge.database.connection() as connection:
            rows = connection.execute(queries["places_of_passages"], {"generation": generation})
            places = {(document, ordinal): rest for document, ordinal, *rest in rows}

        def reads(query: str) -> float:
            left = TOKENS_READ
            for result in self._knowledge.search(
                questions.texts[query],
                collection,
                limit=_PASSAGES_READ,
                mode=mode,
                fusion=fusion,
                literal=True,
                generation=generation,
                unredacted=True,
                **MEASURING,
            ):
                start, end, tokens = places[result.document_id, result.ordinal]
                if tokens > left < TOKENS_READ:  # the first one is read, however long it is
                    break
                left -= tokens
                if questions.grades[query].get(str(result.document_id), 0) > 0 and _answers(
                    (start, end), questions.answers.get(query)
                ):
                    return 1.0
            return 0.0

        return reads

    def lines(self) -> tuple[Line, ...]:
        """Return the line of each candidate that was asked, the present settings first.

        The intervals of the differences hold for all lines at once (Bonferroni): the best of many lines looks better
        than it is.
        """
        first = self._asked[0]
        confidence = 1 - (1 - CONFIDENCE) / max(len(self._asked) - 1, 1)
        with self._knowledge.database.connection() as connection:
            measured = stage_runs(connection)
        with self._prepared.knowledge.database.connection() as connection:
            before = stage_runs(connection)
        lines = []
        for asked in self._asked:
            values = [asked.per_query[query] for query in first.per_query]
            gains = [
                [own - other for own, other in zip(row, first.per_query[query], strict=True)]
                for query, row in zip(first.per_query, values, strict=True)
            ]
            kind = "embeddings", asked.built.model
            past = [*before.get(kind, ()), *measured.get(kind, ())]
            lines.append(
                Line(
                    indexing=asked.indexing,
                    ranking=asked.ranking,
                    is_present=asked is first,
                    estimates=dict(zip(COLUMNS, estimate_means(values), strict=True)),
                    differences=dict(zip(COLUMNS, estimate_means(gains, confidence=confidence), strict=True)),
                    passages=asked.built.passages,
                    vector_bytes=asked.built.vector_bytes,
                    text_bytes=asked.built.text_bytes,
                    seconds=round(forecast_seconds("embeddings", embedding_work(asked.built.tokens), past), 2),
                    computed=asked.built.computed,
                    ms_per_query=asked.ms_per_query,
                    yaml=asked.indexing.yaml(self._prepared.plan.collection, self._prepared.present),
                )
            )
        return tuple(lines)

    def close(self) -> None:
        """Release threads and models; the database is its owner's."""
        self._knowledge.release()


def _answers(passage: Span, answer: Span | None) -> bool:
    """Return whether a passage has enough of an answer; any passage where the answer is the whole document."""
    return answer is None or min(passage[1], answer[1]) - max(passage[0], answer[0]) >= LEAST_ANSWER // 2


def _hit(grades: Mapping[str, int], ranking: Sequence[str]) -> float:
    """Return 1 where the first document is relevant, else 0."""
    return float(bool(ranking) and grades.get(ranking[0], 0) > 0)
