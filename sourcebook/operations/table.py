"""The table of operations: what each is called, what it needs, and where a server answers it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sourcebook.contract.fields import Request
from sourcebook.contract.search import ContextRequest, SearchRequest
from sourcebook.model.access import Scope
from sourcebook.operations import answers, collections, contents, documents, reports, searching, uploads, work


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: arguments and answer are those of its function, the name is that of it."""

    function: Callable[..., Any]
    scope: Scope
    """Scope that a key must have."""
    http: str
    """Verb and path; names in braces are arguments."""
    key: str | None = None
    """Name of the answer in the body; None where the body is the answer."""
    request: type[Request] | None = None
    """Type that checks the arguments and writes them as JSON; None where they are sent one by one."""

    @property
    def name(self) -> str:
        """Name of the operation."""
        return self.function.__name__


OPERATIONS: Final = {
    each.name: each
    for each in (
        Operation(searching.search, "read", "POST /v1/search", request=SearchRequest),
        Operation(searching.context, "read", "POST /v1/context", request=ContextRequest),
        Operation(contents.collections, "read", "GET /v1/collections", "collections"),
        Operation(contents.sources, "read", "GET /v1/sources", "collections"),
        Operation(contents.statistics, "read", "GET /v1/statistics", "collections"),
        Operation(contents.status, "read", "GET /v1/status", "collections"),
        Operation(contents.plan, "read", "GET /v1/plan", "collections"),
        Operation(contents.generations, "read", "GET /v1/generations", "generations"),
        Operation(documents.related, "read", "GET /v1/documents/{document}/related", "related"),
        Operation(documents.remove_document, "write", "DELETE /v1/documents/{document}", "removed"),
        Operation(documents.restore_document, "write", "POST /v1/documents/{document}/restore", "restored"),
        Operation(uploads.remove_upload, "write", "DELETE /v1/uploads", "uploads"),
        Operation(work.work, "read", "GET /v1/work-requests/{number}"),
        Operation(work.cancel_work, "write", "POST /v1/work-requests/{number}/cancel"),
        Operation(reports.judge, "write", "POST /v1/judgments"),
        Operation(reports.judgments, "read", "GET /v1/judgments", "judgments"),
        Operation(reports.queries, "admin", "GET /v1/queries", "queries"),
        Operation(reports.forget_logged_queries, "admin", "DELETE /v1/queries", "searches"),
        Operation(reports.usage, "read", "GET /v1/usage", "usage"),
        Operation(answers.llm_calls, "admin", "GET /v1/llm-calls", "calls"),
        Operation(answers.llm_statistics, "admin", "GET /v1/llm-calls/statistics", "models"),
        Operation(answers.forget_llm_calls, "admin", "DELETE /v1/llm-calls", "calls"),
        Operation(collections.collection_settings, "read", "GET /v1/collections/{name}/settings"),
        Operation(collections.create_collection, "admin", "POST /v1/collections"),
        Operation(collections.delete_collection, "admin", "DELETE /v1/collections/{name}"),
        Operation(collections.add_source, "write", "POST /v1/collections/{collection}/sources"),
        Operation(collections.remove_source, "write", "DELETE /v1/collections/{collection}/sources"),
    )
}
"""Operations by name whose way over HTTP is plain; the client sends the others by hand."""
