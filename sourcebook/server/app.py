"""The app: the routes, the errors and the limits around one knowledge base."""

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Final

import anyio.to_thread
from fastapi import APIRouter, FastAPI, Security
from prometheus_client import CollectorRegistry
from starlette.routing import BaseRoute, Route

from sourcebook.errors import SourcebookError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.metrics import ProcessCollector
from sourcebook.metrics.process import ReplicaCollector
from sourcebook.operations.uploads import upload_store
from sourcebook.server import health, page, routes, widget
from sourcebook.server.access import KEY_SCHEME
from sourcebook.server.adapters import chat, dify, embeddings, open_webui, openai_errors
from sourcebook.server.description import DescribedApp
from sourcebook.server.identity import resource_metadata
from sourcebook.server.identity.provider import Provider
from sourcebook.server.identity.resource_metadata import metadata_url
from sourcebook.server.identity.token_settings import TokenSettings
from sourcebook.server.identity.tokens import Tokens
from sourcebook.server.layers import surround
from sourcebook.server.mcp.http import METHODS, PATH, McpEndpoint
from sourcebook.server.page.errors import add_page_errors
from sourcebook.server.page.rendering import KeptFiles
from sourcebook.server.page.script_texts import STATIC
from sourcebook.server.problems import add_problems, failures
from sourcebook.server.query_parameters import KNOWN_PARAMETERS
from sourcebook.server.rate_limits import RateLimits
from sourcebook.server.request_log import opened_log
from sourcebook.server.routes import search
from sourcebook.server.routes.plain import plain_routes
from sourcebook.server.work_events import WorkEvents
from sourcebook.telemetry.measurements import Part

DESCRIPTION = """Search a Sourcebook, and see what it holds.

Send a key as `Authorization: Bearer sb_…`; on its own machine a server that listens there alone needs none. What a key
may not see does not exist for it: the answer is 404. Errors are problem details (RFC 9457). Each answer names the
version of the server in `Sourcebook-Version`.
"""

_log = logging.getLogger(__name__)
_FAILURES: Final = failures(400, 401, 403, 404, 409, 413, 422, 429, 503)
"""Descriptions of the answers to requests that fail."""


def create_app(
    knowledge: KnowledgeBase,
    *,
    requires_key: bool = True,
    rerankers: Collection[str] = (),
    chatgpt: bool = False,
    all_options: bool = False,
    version: str = "",
    limits: RateLimits | None = None,
    origins: Collection[str] = (),
    dagster_url: str | None = None,
    totals: Callable[[], Mapping[Part, float]] | None = None,
    request_log: str | None = None,
    tokens: TokenSettings | None = None,
) -> FastAPI:
    """Return the app of a knowledge base.

    Args:
        knowledge: the knowledge base, which the caller closes.
        requires_key: whether every caller needs a key; otherwise those without one, who name this machine by one of its
            own names, may do everything.
        rerankers: names and folders of the only models that a search may rerank with.
        chatgpt: whether agents are offered tools in ChatGPT's shape as well.
        all_options: whether agents are told of every argument and answer of their tools at once.
        version: the version of Sourcebook, for the description of the API.
        limits: the limits of requests; no limits but that of wrong keys where None.
        origins: origins whose pages may ask from a browser (CORS), such as `https://intranet.example`.
        dagster_url: the address of Dagster's page, to which the pages link the runs of work.
        totals: returns the counters that `/metrics` shows; those of this process where None.
        request_log: file of a JSON line for each request, `-` for standard error; no lines where None.
        tokens: whose signed tokens are taken, and what they open; none where None.

    Raises:
        RequestLogError: the file cannot be opened.
    """
    agents = McpEndpoint(knowledge, rerankers=rerankers, chatgpt=chatgpt, version=version, all_options=all_options)
    lines = None if request_log is None else opened_log(request_log)
    app = DescribedApp(
        title="Sourcebook",
        version=version or "0",
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lambda _: _running(knowledge, agents, lines),
    )
    app.state.knowledge = knowledge
    app.state.requires_key = requires_key
    app.state.token_settings, app.state.tokens = tokens, None if tokens is None else Tokens(tokens)
    app.state.provider = (
        None if tokens is None or tokens.sign_in is None else Provider(tokens, tokens.sign_in, app.state.tokens)
    )
    app.state.resource_metadata = metadata_url(tokens)
    app.state.limits = limits or RateLimits()
    app.state.origins = frozenset(origins)
    app.state.dagster_url = dagster_url
    app.state.rerankers = frozenset(rerankers)
    app.state.work_events = WorkEvents(knowledge)
    app.state.registry = CollectorRegistry()
    app.state.registry.register(ProcessCollector(totals))
    app.state.registry.register(ReplicaCollector(knowledge))
    app.router.routes.extend(_routes())
    app.router.routes.append(Route(PATH, agents, methods=METHODS))
    add_problems(app)
    app.mount("/static", KeptFiles(directory=STATIC), name="static")
    add_page_errors(app)
    surround(app, knowledge, lines)
    return app


@cache
def _routes() -> list[BaseRoute]:
    """Return the routes that are the same for all knowledge bases: FastAPI takes a quarter of a second to make them."""
    made = APIRouter()
    by_hand = sorted(routers(routes), key=lambda each: each is not search.router)  # matched first: most requests search
    key = Security(KEY_SCHEME)
    for router in (*by_hand, plain_routes([*by_hand, embeddings.router])):
        made.include_router(router, prefix="/v1", responses=_FAILURES, dependencies=[key, KNOWN_PARAMETERS])
    for router in (embeddings.router, chat.router):
        made.include_router(router, prefix="/v1", responses=openai_errors.FAILURES, dependencies=[key])
    for router in (dify.router, open_webui.router):
        made.include_router(router, responses=_FAILURES, dependencies=[key])
    for router in (health.router, resource_metadata.router, *routers(page), *routers(widget)):
        made.include_router(router)
    return made.routes


def routers(package: ModuleType) -> Iterator[APIRouter]:
    """Yield the routers of a package: each of its modules that answers requests has one."""
    for found in iter_modules(package.__path__):
        module = import_module(f"{package.__name__}.{found.name}")
        if hasattr(module, "router"):
            yield module.router


@asynccontextmanager
async def _running(knowledge: KnowledgeBase, agents: McpEndpoint, lines: logging.Handler | None) -> AsyncIterator[None]:
    knowledge.database.answer_requests()
    # Who waits for a thread waits for his turn; who waits in one for a connection would soon be told 503.
    anyio.to_thread.current_default_thread_limiter().total_tokens = knowledge.database.pool.max_size
    await anyio.to_thread.run_sync(_remove_unfinished_uploads, knowledge)
    try:
        async with agents.running():
            yield
    finally:
        if lines is not None:
            lines.close()


def _remove_unfinished_uploads(knowledge: KnowledgeBase) -> None:
    """Delete what a server that was killed has left of uploads."""
    try:
        upload_store(knowledge).remove_unheld()
    except (OSError, SourcebookError) as error:
        _log.warning("unfinished uploads are still in the store: %s", error)
