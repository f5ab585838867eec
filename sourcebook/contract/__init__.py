"""Requests with their fields, and results, which the faces of a knowledge base exchange; no SQL and no driver."""

from importlib import import_module
from typing import Any, Final

_NAMES: Final = """
access AccessKey
answers Answer AnswerText Citation RemovedCitation Source ToolUse
ask_events AskEvents
ask_sessions AskSession AskTurn
asking AskRequest EarlierTurn
collections CollectionDeclaration CollectionSources CollectionStatistics CollectionSummary
context_results ContextResult
differences DiffRequest DocumentDifferences
documents Document DocumentHistory Item Passage Purged RemovedItem
filters Filters
fusion Fusion
generations GenerationState
judgments RecordedJudgment
listing DocumentsRequest
llm_log CallStatistics LlmCallRequest LoggedCall
originals Original
other_documents LinkedDocument
permissions Permission
plans CollectionPlan PlannedItem
query_log LoggedQuery
readings Reading
relations RelatedDocument
reranking Reranking
search ContextRequest SearchRequest
search_results SearchResult SearchResults
similar SimilarRequest
status CollectionStatus
text_vectors TextVectors
uploads Upload
usage Usage
work WorkRequest
"""
HOMES: Final = {name: line.split()[0] for line in _NAMES.strip().splitlines() for name in line.split()[1:]}
"""Module of each public type, which is imported when it is first asked for."""


def __getattr__(name: str) -> Any:
    """Return a type by its name."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
