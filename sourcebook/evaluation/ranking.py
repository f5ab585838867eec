"""Ask the knowledge base a query of an evaluation."""

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.search.request import Mode


def rank_documents(knowledge: KnowledgeBase, collection: str, query: str, *, depth: int, mode: Mode) -> list[int]:
    """Return the ids of at most `depth` documents, best first; each stands where its best passage does."""
    results = knowledge.search(query, collection, limit=depth, mode=mode, group_by="document", literal=True)
    return [result.document_id for result in results]
