"""Judgments by the collection's documents in place of the names in the file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sourcebook.admin.collections import collection_names
from sourcebook.config.names import unknown_collections
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.evaluation.judged_queries import JudgedQueries
from sourcebook.evaluation.matching import RULE, Matches, match_documents
from sourcebook.knowledge_base import KnowledgeBase


@dataclass(frozen=True, slots=True)
class JudgedDocuments:
    """Grades that rankings are scored by."""

    grades: dict[str, dict[str, int]]
    """Query → document → grade; a document is its id as text, or another text where the collection lacks it."""
    unmatched: tuple[str, ...]
    """Names without a document in the collection."""


def find_judged_documents(knowledge: KnowledgeBase, collection: str, asked: JudgedQueries) -> JudgedDocuments:
    """Find the documents that judgments name.

    Raises:
        QueryError: the collection does not exist.
        EvaluationError: the collection is empty, a name fits two documents, two names fit one, or no name fits any.
    """
    with knowledge.database.connection() as connection:
        names = collection_names(connection)
        uris: dict[int, str] = dict(connection.execute(queries["live_documents"], {"collection": collection}))
    if collection not in names:
        raise QueryError(unknown_collections([collection], names))
    if not uris:
        raise EvaluationError(f"the collection {collection} holds no documents yet: run sourcebook ingest")
    matches = match_documents((name for grades in asked.grades.values() for name in grades), uris)
    if not matches.documents:
        raise EvaluationError(
            f"none of the document ids in {asked.qrels} names a document of the collection {collection}. {RULE}. "
            f"Ids are {_some(matches.unmatched)}; URIs are {_some(tuple(uris.values()))}"
        )
    grades = {query: _grades(query, asked.grades[query], matches) for query in asked.texts}
    return JudgedDocuments(grades, matches.unmatched)


def _grades(query: str, grades: Mapping[str, int], matches: Matches) -> dict[str, int]:
    """Return document → grade; documents are named as in rankings."""
    named: dict[str, int] = {}
    ids: dict[str, str] = {}
    for identity, grade in grades.items():
        document = matches.documents.get(identity)
        name = f"not in the collection: {identity}" if document is None else str(document)
        if name in named:
            raise EvaluationError(
                f"the judgments of query {query!r} name one document twice: {ids[name]!r} and {identity!r}"
            )
        named[name] = grade
        ids[name] = identity
    return named


def _some(texts: Sequence[str]) -> str:
    return ", ".join(texts[:3]) + (", …" if len(texts) > 3 else "")
