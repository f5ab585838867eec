"""The tools for jobs: how far one is, and cancelling it."""

from datetime import datetime

from pydantic import BaseModel, Field

from sourcebook.admin.workers import has_worker
from sourcebook.contract.work import WorkRequest
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.mcp.arguments import CancelArguments, JobArguments
from sourcebook.server.mcp.budget import clipped
from sourcebook.server.visibility import NotFoundError

_LONGEST_ERROR = 1_000
"""Characters of the reason why a job failed."""
_MOST_UNREAD = 20
_LONGEST_REASON = 300
_NO_WORKER = (
    "No worker runs, so it waits: have  sourcebook up  run on the server's machine, or  sourcebook ingest --requests, "
    "or a server without --no-work."
)


class Job(BaseModel):
    """Work that was asked for, as it is now."""

    job: int = Field(description="Its id, for get_job and cancel_job.")
    collection: str
    state: str = Field(description="`waiting` for a worker, `running`, `succeeded`, `failed` or `cancelled`.")
    stage: str | None = Field(default=None, description="Stage of the pipeline that works now, or worked last.")
    done: int = Field(description="Items of the stage that are done.")
    total: int = Field(description="Items of the stage that are known so far.")
    failed: int = Field(description="Failed items among those done.")
    error: str | None = Field(default=None, description="Why it failed.")
    unread: list[str] | None = Field(default=None, description="Files that could not be read, with the reason.")
    asked_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    how_to_go_on: str | None = Field(default=None, description="What to do until it has ended.")


def get_job(knowledge: KnowledgeBase, grant: Grant, asked: JobArguments) -> Job:
    """Return a job as it is now.

    Raises:
        NotFoundError: it does not exist for the caller.
    """
    return as_job(_visible(knowledge, grant, asked.job), knowledge)


def cancel_job(knowledge: KnowledgeBase, grant: Grant, asked: CancelArguments) -> Job:
    """Cancel a job that waits, or ask the worker of a running one to stop; one that has ended stays as it is.

    Raises:
        NotFoundError: it does not exist for the caller.
    """
    request = _visible(knowledge, grant, asked.job)
    if not request.has_ended:
        request = knowledge.cancel_work(request.id, actor=grant.actor) or request
    return as_job(request, knowledge)


def as_job(request: WorkRequest, knowledge: KnowledgeBase) -> Job:
    """Return a request for work as an agent is told of it; of one that waits also whether anything does it."""
    return Job(
        job=request.id,
        collection=request.collection,
        state=request.state,
        stage=request.stage,
        done=request.done,
        total=request.total,
        failed=request.failed,
        error=None if request.error is None else clipped(request.error, _LONGEST_ERROR),
        unread=[f"{each.uri}: {clipped(each.reason, _LONGEST_REASON)}" for each in request.unread[:_MOST_UNREAD]]
        or None,
        asked_at=request.asked_at,
        started_at=request.started_at,
        ended_at=request.ended_at,
        how_to_go_on=_how_to_go_on(request, knowledge),
    )


def _how_to_go_on(request: WorkRequest, knowledge: KnowledgeBase) -> str | None:
    if request.has_ended:
        return None
    if request.cancel_asked:
        return f"It stops after the batch that it works on: get_job with job={request.id} says when."
    later = f"ask get_job with job={request.id} later, or with wait=true."
    if request.state == "waiting" and not has_worker(knowledge.database):
        return f"{_NO_WORKER} Then {later}"
    return f"It has not ended: {later}"


def _visible(knowledge: KnowledgeBase, grant: Grant, number: int) -> WorkRequest:
    request = knowledge.work(number)
    if request is None or not grant.sees(request.collection):
        raise NotFoundError("there is no such job")
    return request
