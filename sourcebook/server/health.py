"""Routes for those who operate the server: whether it lives, whether it can answer, metrics."""

from typing import Literal

from fastapi import APIRouter, Request, Security
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import BaseModel
from starlette.responses import PlainTextResponse, Response

from sourcebook.operations.overviews import collection_names
from sourcebook.server.access import KEY_SCHEME, Administrator, WholeKnowledge
from sourcebook.server.problems import failures

router = APIRouter(tags=["operation"])


class State(BaseModel):
    """The state of the server."""

    status: Literal["ok"] = "ok"


@router.get("/health", operation_id="health", responses=failures(429))
async def health() -> State:
    """Answer as long as the process lives; the database is not asked."""
    return State()


@router.get("/ready", operation_id="ready", responses=failures(429, 503))
def ready(knowledge: WholeKnowledge) -> State:
    """Answer where the database does, too; 503 otherwise."""
    collection_names(knowledge)
    return State()


@router.get(
    "/metrics",
    operation_id="metrics",
    response_class=PlainTextResponse,
    dependencies=[Security(KEY_SCHEME)],
    responses=failures(401, 403, 429, 503),
)
def metrics(request: Request, _: Administrator) -> Response:
    """Return the Prometheus metrics of the searches of this server, all its processes together."""
    registry: CollectorRegistry = request.app.state.registry
    return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})
