"""The table of operations: the function of each, the scope that it needs, and where a server answers it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Coroutine
from functools import cache, cached_property
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar, overload

from sourcebook import contract
from sourcebook.operations import answers, contents, curation, document_files, reports, searching
from sourcebook.operations import ask_sessions as conversations
from sourcebook.operations import collections as declarations
from sourcebook.operations import documents as single_documents
from sourcebook.operations import uploads as sent_files
from sourcebook.operations import work as work_requested

if TYPE_CHECKING:
    from sourcebook.contract.fields import Request
    from sourcebook.model.access import Scope
    from sourcebook.operations.opened import Opened

P = ParamSpec("P")
Answer = TypeVar("Answer")


class AnswerType(NamedTuple):
    """Type of an answer."""

    kind: Any
    """Type of the answer, or of what is in the list; None for no answer."""
    is_list: bool
    is_optional: bool
    """Whether there may be none."""


class AwaitedFace:
    """Marks a knowledge base whose answers are awaited."""


class Operation(Generic[P, Answer]):
    """One operation, which is a method of every knowledge base: each makes its own of the function.

    The arguments, the answer, the documentation and the name are those of the function.
    """

    def __init__(
        self,
        function: Callable[Concatenate[Opened, P], Answer],
        scope: Scope,
        http: str = "",
        key: str | None = None,
        *,
        request: str = "",
    ) -> None:
        """Declare an operation.

        Args:
            function: does the work on a knowledge base that is open here.
            scope: the scope that a key must have.
            http: verb and path; names in braces are arguments. Empty where no server needs to be asked.
            key: name of the answer in the body; None where the body is the answer.
            request: name of the type that checks the arguments and writes them as JSON; empty where they are sent one
                by one.
        """
        self.function, self.scope, self.http, self.key, self._request = function, scope, http, key, request

    @property
    def name(self) -> str:
        """Name of the operation."""
        return self.function.__name__

    @cached_property
    def request(self) -> type[Request] | None:
        """Type that checks the arguments and writes them as JSON, imported when it is first asked for."""
        return getattr(contract, self._request) if self._request else None

    @cached_property
    def arguments(self) -> list[str]:
        """Names of its arguments."""
        return [*inspect.signature(self.function).parameters][1:]

    @cached_property
    def answer(self) -> AnswerType:
        """Type of its answer."""
        text = str(inspect.signature(self.function).return_annotation)
        name = re.sub(r"^list\[(.*)\]$", r"\1", text.removesuffix(" | None"))
        kind = {"None": None, "int": int}[name] if name in {"None", "int"} else getattr(contract, name)
        return AnswerType(kind, text.startswith("list["), text.endswith(" | None"))

    @overload
    def __get__(self, face: None, kind: type[Any]) -> Callable[..., Any]: ...
    @overload
    def __get__(self, face: AwaitedFace, kind: type[Any]) -> Callable[P, Coroutine[Any, Any, Answer]]: ...
    @overload
    def __get__(self, face: object, kind: type[Any]) -> Callable[P, Answer]: ...
    def __get__(self, face: object | None, kind: Any) -> Any:
        """Return the method of a knowledge base, or the function behind it."""
        method = _method(kind, self)
        return method if face is None else MethodType(method, face)


@cache
def _method(kind: Any, operation: Operation[Any, Any]) -> Callable[..., Any]:
    """Return the function that a kind of knowledge base has for an operation."""
    made: Callable[..., Any] = kind._method_of(operation)
    return made


class Operations:
    """The operations of every knowledge base: open here, behind a server, or awaited."""

    search = Operation(searching.search, "read", "POST /v1/search", request="SearchRequest")
    similar = Operation(searching.similar, "read", "POST /v1/similar", request="SimilarRequest")
    context = Operation(searching.context, "read", "POST /v1/context", request="ContextRequest")
    prewarm = Operation(searching.prewarm, "read", "POST /v1/search")

    ask = Operation(answers.ask, "read", "POST /v1/ask", request="AskRequest")
    ask_sessions = Operation(conversations.ask_sessions, "read", "GET /v1/ask/sessions", "sessions")
    ask_session = Operation(conversations.ask_session, "read", "GET /v1/ask/sessions/{session}", "turns")
    forget_ask_session = Operation(
        conversations.forget_ask_session, "read", "DELETE /v1/ask/sessions/{session}", "turns"
    )
    tool_schemas = Operation(answers.tool_schemas, "read")
    llm_calls = Operation(answers.llm_calls, "admin", "GET /v1/llm-calls", "calls")
    record_llm_call = Operation(answers.record_llm_call, "write", "POST /v1/llm-calls")
    llm_statistics = Operation(answers.llm_statistics, "admin", "GET /v1/llm-calls/statistics", "models")
    forget_llm_calls = Operation(answers.forget_llm_calls, "admin", "DELETE /v1/llm-calls", "calls")

    collections = Operation(contents.collections, "read", "GET /v1/collections", "collections")
    sources = Operation(contents.sources, "read", "GET /v1/sources", "collections")
    statistics = Operation(contents.statistics, "read", "GET /v1/statistics", "collections")
    documents = Operation(contents.documents, "read", "GET /v1/documents")
    count_documents = Operation(contents.count_documents, "read", "GET /v1/documents")
    show = Operation(contents.show, "read", "GET /v1/documents/lookup")
    status = Operation(contents.status, "read", "GET /v1/status", "collections")
    plan = Operation(contents.plan, "read", "GET /v1/plan", "collections")
    generations = Operation(contents.generations, "read", "GET /v1/generations", "generations")

    judge = Operation(reports.judge, "write", "POST /v1/judgments")
    judgments = Operation(reports.judgments, "read", "GET /v1/judgments", "judgments")
    queries = Operation(reports.queries, "admin", "GET /v1/queries", "queries")
    forget_logged_queries = Operation(reports.forget_logged_queries, "admin", "DELETE /v1/queries", "searches")
    readings = Operation(reports.readings, "admin", "GET /v1/audit/readings", "readings")
    forget_readings = Operation(reports.forget_readings, "admin", "DELETE /v1/audit/readings", "readings")
    usage = Operation(reports.usage, "read", "GET /v1/usage", "usage")
    permissions = Operation(reports.permissions, "admin", "GET /v1/permissions", "permissions")

    remove_document = Operation(single_documents.remove_document, "write", "DELETE /v1/documents/{document}", "removed")
    restore_document = Operation(
        single_documents.restore_document, "write", "POST /v1/documents/{document}/restore", "restored"
    )
    change_document = Operation(single_documents.change_document, "write", "PATCH /v1/documents/{document}")
    curate_document = Operation(curation.curate_document, "write", "PUT /v1/documents/{document}/curation")
    relabel = Operation(single_documents.relabel, "write", "PATCH /v1/documents/{document}")
    related = Operation(single_documents.related, "read", "GET /v1/documents/{document}/related", "related")
    diff = Operation(single_documents.diff, "read", "POST /v1/diff", request="DiffRequest")
    original = Operation(document_files.original, "read", "GET /v1/documents/{document}/original")
    page_image = Operation(document_files.page_image, "read", "GET /v1/documents/{document}/pages/{page}")

    upload = Operation(sent_files.upload, "write", "PUT /v1/uploads/{collection}/{name}")
    uploads = Operation(sent_files.uploads, "read", "GET /v1/uploads")
    upload_versions = Operation(sent_files.upload_versions, "read", "GET /v1/uploads/{collection}/{name}")
    permit_upload = Operation(sent_files.permit_upload, "admin", "PATCH /v1/uploads/{collection}/{name}")
    remove_upload = Operation(sent_files.remove_upload, "write", "DELETE /v1/uploads", "uploads")

    collection_settings = Operation(declarations.collection_settings, "read", "GET /v1/collections/{name}/settings")
    create_collection = Operation(declarations.create_collection, "admin", "POST /v1/collections")
    change_collection = Operation(declarations.change_collection, "admin", "PATCH /v1/collections/{name}")
    delete_collection = Operation(declarations.delete_collection, "admin", "DELETE /v1/collections/{name}")
    rename_collection = Operation(declarations.rename_collection, "admin", "POST /v1/collections/{name}/rename")
    add_source = Operation(declarations.add_source, "write", "POST /v1/collections/{collection}/sources")
    remove_source = Operation(declarations.remove_source, "write", "DELETE /v1/collections/{collection}/sources")

    request_work = Operation(work_requested.request_work, "write", "POST /v1/collections/{collection}/sync")
    work = Operation(work_requested.work, "read", "GET /v1/work-requests/{number}")
    work_requests = Operation(work_requested.work_requests, "read", "GET /v1/work-requests")
    cancel_work = Operation(work_requested.cancel_work, "write", "POST /v1/work-requests/{number}/cancel")


OPERATIONS = {name: each for name, each in vars(Operations).items() if isinstance(each, Operation)}
"""Operations by name."""
