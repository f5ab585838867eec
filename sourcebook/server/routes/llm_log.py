"""Routes for the log of language models."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict

from sourcebook.contract.llm_log import LlmCallRequest, LoggedCall
from sourcebook.errors import QueryError
from sourcebook.server.access import Administrator, Knowledge, Writer
from sourcebook.server.request_models import Carried, carrying
from sourcebook.server.routes.collections import Named
from sourcebook.server.routes.reports import Since, as_duration
from sourcebook.server.visibility import seen_collections

router = APIRouter(prefix="/llm-calls", tags=["queries"])


@carrying(LlmCallRequest)
class LlmCall(Carried):
    """A call of a program's own to a language model."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"model": "gpt-4o-mini", "prompt": "Summarise the lease.", "answer": "It ends in May."}]
        }
    )


class LoggedCalls(BaseModel):
    """Calls of language models, the newest first."""

    calls: list[LoggedCall]


@router.get("", operation_id="list_llm_calls")
def list_llm_calls(
    knowledge: Knowledge,
    grant: Administrator,
    names: Named = None,
    since: Since = None,
    session: Annotated[str | None, Query(max_length=200, description="Only calls of this session.")] = None,
    failed: Annotated[bool, Query(description="Only calls without an answer.")] = False,
    before: Annotated[int | None, Query(ge=1, lt=1 << 63, description="Only calls with a lower id.")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 50,
) -> LoggedCalls:
    """Return the logged calls that asked no other collections than the named ones, the newest first."""
    found = knowledge.llm_calls(
        seen_collections(knowledge, grant, names),
        since=as_duration(since),
        session=None if session is None else session.replace("\0", ""),
        failed=failed,
        before=before,
        limit=limit,
    )
    return LoggedCalls(calls=found)


@router.post("", operation_id="record_llm_call", status_code=201)
def record_llm_call(call: LlmCall, request: Request, knowledge: Knowledge, grant: Writer) -> LoggedCall:
    """Add a call of a program's own to a language model to the log; return it as it stands there, redacted."""
    options = call.options()
    request.state.sent = [options["collections"]]
    names = [options["collections"]] if isinstance(options["collections"], str) else options["collections"]
    if not names and grant.collections is not None:
        raise QueryError("the key sees some collections alone: name those that the call was about")
    seen_collections(knowledge, grant, names)
    return knowledge.record_llm_call(**options)
