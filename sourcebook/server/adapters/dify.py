"""Dify's protocol for external knowledge: a collection of Sourcebook as a knowledge base of Dify."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import pydantic_core
from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from sourcebook.contract.search import MOST_CHARACTERS
from sourcebook.contract.search_results import SearchResult
from sourcebook.redaction.for_models import read_by_model
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.adapters.dify_conditions import MetadataCondition, as_filter
from sourcebook.server.problems import NoAccessError
from sourcebook.server.request_models import Share, as_whole
from sourcebook.server.searching import search_as_asked
from sourcebook.server.types import SearchQuery
from sourcebook.server.visibility import NotFoundError

_MOST = 100
"""Passages of one answer, at most: a model reads them."""


class RetrievalSetting(BaseModel):
    """The extent of an answer."""

    model_config = ConfigDict(frozen=True)

    top_k: Annotated[int, Field(strict=True, ge=1, le=_MOST), BeforeValidator(as_whole)] = 5
    score_threshold: Share | None = 0.0


class RetrievalWanted(BaseModel):
    """A search as Dify asks for it; fields that Dify adds later have no effect."""

    model_config = ConfigDict(
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "knowledge_id": "handbook",
                    "query": "How long do the batteries last?",
                    "retrieval_setting": {"top_k": 3, "score_threshold": 0.2},
                }
            ]
        },
    )

    knowledge_id: str = Field(description="Name of a collection.")
    query: str = Field(min_length=1, max_length=MOST_CHARACTERS, pattern=r"\S")
    retrieval_setting: RetrievalSetting = RetrievalSetting()
    metadata_condition: MetadataCondition | None = None


class Record(BaseModel):
    """A passage."""

    content: str
    score: float = Field(ge=0, le=1, description="How likely the passage answers the query.")
    title: str
    metadata: dict[str, Any] = Field(description="That of the document, with `document_id`, `uri`, `page` and others.")


class RetrievalAnswer(BaseModel):
    """Passages that answer a query, best first."""

    records: list[Record]


class RetrievalError(BaseModel):
    """The answer to a request that failed."""

    error_code: int = Field(description="1001: no key; 1002: a key that is not valid; 2001: no such knowledge base.")
    error_msg: str


class _DifyRoute(APIRoute):
    """A route whose refusals have the numbers that Dify's users know."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of a request."""
        handle = super().get_route_handler()

        async def handle_as_dify(request: Request) -> Response:
            try:
                return await handle(request)
            except NoAccessError as error:
                is_bearer = request.headers.get("authorization", "").lower().startswith("bearer ")
                return _refused(401, 1002 if is_bearer else 1001, str(error))
            except NotFoundError:
                return _refused(404, 2001, "there is no such knowledge base: its id is the name of a collection")

        return handle_as_dify


router = APIRouter(tags=["adapters"], route_class=_DifyRoute)
_FAILURES: dict[int | str, dict[str, Any]] = {
    number: {"model": RetrievalError, "description": said}
    for number, said in ((401, "No valid key"), (404, "No such collection"))
}


@router.post("/retrieval", response_model=RetrievalAnswer, responses=_FAILURES, operation_id="retrieval")
def retrieval(wanted: RetrievalWanted, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return passages that answer a query in Dify's protocol for external knowledge."""
    request.state.sent = wanted.model_dump(include={"knowledge_id", "query", "metadata_condition"})
    asked = SearchQuery.of(
        query=wanted.query,
        collections=[wanted.knowledge_id],
        limit=wanted.retrieval_setting.top_k,
        min_relevance=wanted.retrieval_setting.score_threshold or 0,
        filters=as_filter(wanted.metadata_condition),
    )
    with read_by_model():
        found = search_as_asked(knowledge, grant, asked, request.app.state.rerankers)
    return Response(
        pydantic_core.to_json({"records": [_record(each) for each in found]}, inf_nan_mode="null"),
        media_type="application/json",
    )


def _record(found: SearchResult) -> dict[str, Any]:
    own = {
        "document_id": found.document_id,
        "uri": found.uri,
        "path": found.uri,  # which Dify shows
        "page": found.page,
        "heading": " › ".join(found.heading_path),
        "time": found.time_span,
    }
    return {
        "content": found.text,
        "score": found.relevance,
        "title": found.title,
        "metadata": {**found.metadata, **{name: value for name, value in own.items() if value not in {None, ""}}},
    }


def _refused(status: int, number: int, said: str) -> Response:
    headers = {"WWW-Authenticate": 'Bearer realm="sourcebook"'} if status == 401 else None
    return JSONResponse({"error_code": number, "error_msg": said}, status, headers)
