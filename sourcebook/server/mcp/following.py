"""Waiting for a job: until it has ended, with progress for the client that wants it."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
from mcp import types

from sourcebook.model.work import START_SECONDS
from sourcebook.server.mcp.budget import as_json
from sourcebook.server.mcp.tools.jobs import Job

LONGEST_WAIT: Final = 50.0
"""Seconds of one wait, at most: clients of the protocol give up after a minute without an answer."""
_PAUSE: Final = 0.5
"""Seconds between two looks."""
_STAGES: Final = [stage for stage in START_SECONDS if stage != "run"]
"""Stages in their order."""
Tell = Callable[[float, float | None, str | None], Awaitable[None]]
"""Called with the progress, its end, and a sentence."""


async def follow(
    answer: types.CallToolResult, look: Callable[[int], Awaitable[types.CallToolResult]], tell: Tell
) -> types.CallToolResult:
    """Return the answer about a job when the job has ended, or the time is over.

    Args:
        answer: that of the tool; a job, which may say more than `get_job` does, or a failure, which is returned.
        look: returns the answer about the job with an id as it is now.
        tell: tells the client of progress; does nothing where it wants none.
    """
    until, told = time.monotonic() + LONGEST_WAIT, -1.0
    beside = {name: value for name, value in (answer.structured_content or {}).items() if name not in Job.model_fields}
    while not answer.is_error and (job := answer.structured_content or {}).get("ended_at") is None:
        progress = _progress_of(job)
        if progress > told:  # the protocol wants progress that never falls
            told = progress
            await tell(progress, float(len(_STAGES)), _said(job))
        if time.monotonic() >= until:
            break
        await anyio.sleep(_PAUSE)
        answer = await look(int(job["job"]))
    if answer.is_error or not beside:
        return answer
    found = {**(answer.structured_content or {}), **beside}
    return types.CallToolResult(content=[types.TextContent(text=as_json(found))], structured_content=found)


def _progress_of(job: dict[str, Any]) -> float:
    """Return the stages that are done, with the part of the one that works."""
    if job.get("stage") not in _STAGES:
        return 0.0
    part = min(job["done"] / job["total"], 1.0) if job["total"] else 0.0
    return round(_STAGES.index(job["stage"]) + part, 3)


def _said(job: dict[str, Any]) -> str:
    """Return the progress as a sentence."""
    if job["state"] == "waiting":
        return "waiting for a worker"
    failed = f", {job['failed']:,} failed" if job["failed"] else ""
    return f"{job.get('stage') or 'starting'}: {job['done']:,} of {job['total']:,}{failed}"
