"""The routes of the widget: its script, its search, its answers, and the page for a frame."""

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import cache, partial
from typing import Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import Field, StrictBool
from starlette.responses import JSONResponse, Response

from sourcebook.contract.answers import Answer, AnswerText, AskEvent
from sourcebook.contract.ask_events import AskEvents
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.access_keys import origins_of_key
from sourcebook.operations.answers import answering_collections
from sourcebook.server.access import WholeKnowledge, address_of
from sourcebook.server.asking import answer_to_failure, each_event, in_a_thread
from sourcebook.server.page.rendering import render
from sourcebook.server.page.script_texts import STATIC
from sourcebook.server.page.security_headers import FRAMED
from sourcebook.server.rate_limits import RateLimits
from sourcebook.server.request_models import Sent
from sourcebook.server.visibility import NotFoundError, known_collections, seen_collections
from sourcebook.server.widget.found import MOST_PASSAGES, documents_of, shown_answer
from sourcebook.server.widget.origins import STRANGERS
from sourcebook.server.widget.public_keys import PublicCaller, PublicKnowledge, count_question
from sourcebook.server.work_events import EventStream

router = APIRouter(include_in_schema=False)
_SCRIPT: Final = "widget.js"
_LARGEST_ID: Final = (1 << 63) - 1
_FRAME_POLICY: Final = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors {}"
)


class WidgetSearch(Sent):
    """The query that somebody has typed."""

    query: str = Field(default="", max_length=1_000)
    collections: list[str] | None = Field(default=None, max_length=50)
    typed: StrictBool = False
    """Whether somebody is still typing: the log of queries keeps what stands for a while."""


class WidgetTurn(Sent):
    """An earlier question, and its answer."""

    question: str = Field(max_length=1_000)
    answer: str = Field(max_length=4_000)


class WidgetQuestion(Sent):
    """A question to the language model of the collections."""

    question: str = Field(min_length=1, max_length=1_000, pattern=r"\S")
    collections: list[str] | None = Field(default=None, max_length=50)
    history: list[WidgetTurn] = Field(default=[], max_length=5)


@router.get("/widget.js")
async def get_widget(request: Request) -> Response:
    """Return the script, which any page may load."""
    content, tag = _script()
    headers = {"ETag": tag, "Cache-Control": "public, max-age=3600", "Cross-Origin-Resource-Policy": "cross-origin"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, 200, headers, "text/javascript")


@router.post("/widget/search")
def search_for_page(
    asked: WidgetSearch, request: Request, knowledge: PublicKnowledge, grant: PublicCaller
) -> JSONResponse:
    """Return the documents that answer a query; without a query, whether questions are answered."""
    request.state.sent = [asked.query, asked.collections]
    if not asked.query.strip():
        found: dict[str, Any] = {"documents": [], "asks": bool(_asked(knowledge, grant, asked.collections))}
    else:
        collections = seen_collections(knowledge, grant, asked.collections)
        results = knowledge.search(asked.query, collections, MOST_PASSAGES, log=not asked.typed)
        found = {"documents": documents_of(results)}
    return JSONResponse(found, headers={"Cache-Control": "no-store"})


@router.post("/widget/ask")
async def answer_for_page(
    asked: WidgetQuestion, request: Request, knowledge: PublicKnowledge, grant: PublicCaller
) -> Response:
    """Return what happens on the way to an answer as server-sent events: `reading`, `text`, `answer`, `error`."""
    request.state.sent = [*asked.model_dump().values()]
    count_question(request, grant)
    events = await in_a_thread(partial(_events, knowledge, grant, asked))
    first = await in_a_thread(partial(next, events))  # what is wrong with the question is no event
    return EventStream(_told(request, events, first), cache="no-store")


@router.get("/embed")
def show_embedded(
    request: Request, knowledge: WholeKnowledge, key: int = Query(ge=1, le=_LARGEST_ID), lang: str = "en"
) -> Response:
    """Show the search in a frame, which the pages of a key's origins alone may show; the key is in the fragment."""
    limits: RateLimits = request.app.state.limits
    limits.admit_from(b"frame", address_of(request), STRANGERS)
    origins = origins_of_key(knowledge, key)
    if not origins:
        raise NotFoundError("there is no such key of pages")
    page = render(request, "embed.html", key=key, lang=lang if lang.isalpha() and len(lang) < 4 else "en")
    request.scope[FRAMED] = True
    page.headers["Content-Security-Policy"] = _FRAME_POLICY.format(" ".join(origins))
    return page


@cache
def _script() -> tuple[bytes, str]:
    content = (STATIC / _SCRIPT).read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:20]}"'


def _asked(knowledge: KnowledgeBase, grant: Grant, named: list[str] | None) -> list[str]:
    """Return the collections that a question is about: those of the caller that name a language model."""
    models = answering_collections(knowledge)
    known = seen_collections(knowledge, grant, named) if named else known_collections(knowledge, grant)
    return [name for name in known or () if name in models]


def _events(knowledge: KnowledgeBase, grant: Grant, asked: WidgetQuestion) -> AskEvents:
    collections = _asked(knowledge, grant, asked.collections)
    if not collections:
        raise NotFoundError("there is no collection that names a language model")
    history = [each.model_dump() for each in asked.history]
    return knowledge.ask_stream(asked.question, collections, owner=grant.identity, history=history)


async def _told(request: Request, events: AskEvents, first: AskEvent) -> AsyncIterator[bytes]:
    try:
        async with aclosing(each_event(events, first)) as told:
            async for event in told:
                if isinstance(event, AnswerText):
                    yield _event("text", {"text": event.text})
                elif isinstance(event, Answer):
                    yield _event("answer", shown_answer(event))
                else:
                    yield KEEPALIVE_COMMENT if event is None else _event("reading", {})
    except Exception as error:  # noqa: BLE001 - the status has been sent: the page gets every error as an event
        answer = await answer_to_failure(request, error)
        yield _event("error", {"status": answer.status_code})


def _event(name: str, data: dict[str, Any]) -> bytes:
    return format_sse_event(event=name, data_str=json.dumps(data))
