"""The questions of a bakeoff: judged ones first, and then those that the documents give."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.evaluation.bakeoff.made_questions import MadeQuestion, Span, made_questions, moved_places
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.evaluation.judged_documents import find_judged_documents
from sourcebook.evaluation.judged_queries import JudgedQueries, read_judged_queries, recorded_queries
from sourcebook.evaluation.scores import FEW_QUERIES
from sourcebook.indexing.evaluation_settings import configured_evaluation
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.document import ParsedDocument

JUDGED: Final = "judged"


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """Questions with the documents that answer them."""

    texts: Mapping[str, str]
    """Question by its id."""
    grades: Mapping[str, Mapping[str, int]]
    """Question → document → grade; a document is its id as text."""
    counts: Mapping[str, int]
    """Number of questions by kind: `judged`, `pair` and `heading`."""
    taken_out: tuple[MadeQuestion, ...] = ()
    """Questions whose words are taken out of their documents."""
    answers: Mapping[str, Span] = field(default_factory=dict)
    """Made question → `(start, end)` of its answer in its document without questions, in characters."""

    @property
    def documents(self) -> Collection[int]:
        """Ids of the documents that the judgments name."""
        return {int(name) for grades in self.grades.values() for name in grades if name.isdecimal()}

    def with_made(self, documents: Iterable[tuple[int, ParsedDocument]], limit: int) -> "AskedQuestions":
        """Return these questions, and where they are few those that documents give, up to the limit.

        Raises:
            EvaluationError: there is no question.
        """
        if len(self.texts) >= min(FEW_QUERIES, limit):
            return self
        made = made_questions(dict(documents), limit - len(self.texts))
        names = {f"{question.kind} {number}": question for number, question in enumerate(made, start=1)}
        if not self.texts and not made:
            raise EvaluationError(
                "there is no judged question, and the documents have no headings or pairs of question and answer to "
                "make some of: record some with  sourcebook judge QUERY DOCUMENT, or give --queries and --qrels"
            )
        counts = {kind: sum(question.kind == kind for question in made) for kind in ("pair", "heading")}
        return AskedQuestions(
            {**self.texts, **{name: question.text for name, question in names.items()}},
            {**self.grades, **{name: {str(question.document): 1} for name, question in names.items()}},
            {**self.counts, **{kind: number for kind, number in counts.items() if number}},
            tuple(made),
            {name: _answer(question, made) for name, question in names.items()},
        )


def _answer(question: MadeQuestion, made: Sequence[MadeQuestion]) -> Span:
    moved = moved_places([each for each in made if each.document == question.document])
    return moved(question.answer[0]), moved(question.answer[1])


def judged_questions(
    knowledge: KnowledgeBase, collection: str, queries_file: Path | None, qrels: Path | None, limit: int
) -> AskedQuestions:
    """Return the judged questions: of files, else of the files in the collection's settings, else the recorded ones.

    Raises:
        EvaluationError: a file is wrong, or none of its ids names a document.
        QueryError: the collection does not exist.
    """
    with knowledge.database.connection() as connection:
        asked = _judged(connection, collection, queries_file, qrels, limit)
    if asked is None:
        return AskedQuestions({}, {}, {})
    grades = find_judged_documents(knowledge, collection, asked).grades
    return AskedQuestions(asked.texts, grades, {JUDGED: len(asked.texts)})


def _judged(
    connection: Connection, collection: str, queries_file: Path | None, qrels: Path | None, limit: int
) -> JudgedQueries | None:
    if queries_file is None and qrels is None:
        settings = configured_evaluation(connection, collection)
        queries_file, qrels = (None if path is None else Path(path) for path in (settings.queries, settings.qrels))
    if queries_file is not None and qrels is not None:
        return read_judged_queries(queries_file, qrels, limit)
    if queries_file is not None or qrels is not None:
        raise EvaluationError("questions and judgments belong together: give both files, or none")
    has_recorded = connection.execute(queries["has_judgments"], {"collection": collection}).fetchone()
    return recorded_queries(connection, collection, limit) if has_recorded == (True,) else None
