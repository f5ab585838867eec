"""Route for contexts of language models."""

import pydantic_core
from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.contract.context_results import ContextResult
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.context_making import context_as_asked
from sourcebook.server.context_types import ContextQuery

router = APIRouter(tags=["search"])


@router.post("/context", response_model=ContextResult, operation_id="context")
def context(asked: ContextQuery, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return the passages that answer a question as a context for a language model, within a budget of tokens."""
    request.state.sent = [asked.question, asked.collections, asked.filters, asked.tokenizer]
    made = context_as_asked(knowledge, grant, asked, request.app.state.rerankers)
    return Response(pydantic_core.to_json(made.as_dict(), inf_nan_mode="null"), media_type="application/json")
