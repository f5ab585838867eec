"""The page that asks a language model, or shows the best passages where the collections name none."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_hex
from typing import Any

from fastapi import APIRouter, Request
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from sourcebook.contract.answers import Answer, AnswerText, AskEvent, ToolUse
from sourcebook.contract.ask_events import AskEvents
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.answers import answering_collections
from sourcebook.server.asking import LEFT, answer_of, answer_to_failure, collections_to_ask, each_event, in_a_thread
from sourcebook.server.page.conversations import kept_turns
from sourcebook.server.page.document_text import rendered
from sourcebook.server.page.forms import ReaderForm, is_own
from sourcebook.server.page.found_on_page import shown_hit
from sourcebook.server.page.page_question import PageQuestion
from sourcebook.server.page.page_turns import PageTurn, turn_of_answer, turn_of_kept
from sourcebook.server.page.rendering import address, part_of_page, render
from sourcebook.server.page.search import A_PAGE
from sourcebook.server.page.sentences import said
from sourcebook.server.page.translation import gettext, ngettext
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.visibility import known_collections, seen_collections
from sourcebook.server.work_events import EventStream

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class _Asking:
    """A question of a visitor, with what is known of the collections that it is about."""

    knowledge: KnowledgeBase
    visitor: Grant
    question: PageQuestion
    known: list[str]
    asked: list[str]
    """Collections that are asked, all of which name a model."""
    without_model: list[str]
    """Chosen collections that name none."""
    keeps: bool
    """Whether the conversation is kept."""
    earlier: tuple[PageTurn, ...]

    @classmethod
    def of(cls, knowledge: KnowledgeBase, visitor: Grant, question: PageQuestion) -> "_Asking":
        """Return the question with what was asked before it.

        Raises:
            NotFoundError: a collection or the conversation does not exist for the visitor.
        """
        kept = kept_turns(knowledge, visitor, question.session) if question.session else []
        if kept and not question.collections:
            question = replace(question, collections=sorted({name for each in kept for name in each.collections}))
        known, models = known_collections(knowledge, visitor), answering_collections(knowledge)
        chosen = seen_collections(knowledge, visitor, question.collections) if question.collections else None
        asked = [name for name in chosen or known if name in models]
        missing = [name for name in chosen or () if name not in models]
        keeps = bool(asked) and not question.earlier and all(models[name] for name in asked)
        if keeps and not question.session:
            question = replace(question, session=f"page-{token_hex(8)}")
        turns = tuple(turn_of_kept(each) for each in [*kept, *question.earlier])
        return cls(knowledge, visitor, question, known, asked, missing, keeps, turns)

    @property
    def has_model(self) -> bool:
        return bool(self.asked) and not self.without_model

    def events(self) -> AskEvents:
        """Ask the model."""
        asked = self.question
        session = asked.session or None
        history = [{"question": each.question, "answer": each.answer} for each in asked.earlier]
        return self.knowledge.ask_stream(
            asked.q,
            collections_to_ask(self.knowledge, self.visitor, asked.collections),
            owner=self.visitor.identity,
            filters=asked.filters or None,
            **({"session": session} if session else {"history": history}),
        )

    def after(self, answer: Answer) -> tuple[PageTurn, dict[str, str]]:
        """Return the turn of an answer, and what the form of the next question carries."""
        turn = turn_of_answer(answer, self.asked)
        return turn, self.question.followed_by(turn.said).carried

    def page(self, request: Request, status: int = 200, **values: Any) -> Response:
        """Return the page of the question."""
        parameters = self.question.parameters
        about: dict[str, Any] = {
            "asked": parameters,
            "known": self.known,
            "has_model": self.has_model,
            "without_model": self.without_model,
            "keeps": self.keeps,
            "turns": list(self.earlier),
            "typed": self.question.q,
            "carried": self.question.carried if self.earlier else {"session": "", "history": ""},
            "pending": False,
            "problem": None,
            "found": None,
            "whole": address("/ask", parameters, whole="1"),
        }
        return render(request, "ask.html", status, **(about | values))


@router.get("/ask")
async def show_ask(request: Request, knowledge: Knowledge, visitor: Visitor, whole: bool = False) -> Response:
    """Show the form, a conversation, or a question: its answer where it is to be `whole`, else what asks for it."""
    sent = {name: request.query_params.getlist(name) for name in request.query_params if name != "history"}
    asking = await run_in_threadpool(_Asking.of, knowledge, visitor, PageQuestion.of(sent))
    is_asked = bool(asking.question.q) and is_own(request)
    if is_asked and not asking.has_model:
        return await run_in_threadpool(_passages, request, asking)
    if is_asked and whole:
        return await _answered(request, asking)
    return asking.page(request, pending=is_asked, typed="" if asking.earlier and not is_asked else asking.question.q)


@router.post("/ask")
async def ask(request: Request, knowledge: Knowledge, form: ReaderForm) -> Response:
    """Show the answer to a question that follows others."""
    asking = await run_in_threadpool(_Asking.of, knowledge, form.visitor, PageQuestion.of(form.fields))
    if not asking.question.q:
        return asking.page(request)
    if not asking.has_model:
        return await run_in_threadpool(_passages, request, asking)
    return await _answered(request, asking)


@router.post("/ask/events")
async def stream_answer(request: Request, knowledge: Knowledge, form: ReaderForm) -> Response:
    """Return what happens on the way to an answer as server-sent events, whose data is JSON.

    `status` is a sentence, `text` the HTML of the answer so far, `turn` the HTML of the whole turn with what the next
    question's form carries, `problem` a sentence.
    """
    asking = await run_in_threadpool(_Asking.of, knowledge, form.visitor, PageQuestion.of(form.fields))
    if not asking.has_model:
        return Response(status_code=204, headers={"HX-Redirect": address("/ask", asking.question.parameters)})
    events = await in_a_thread(asking.events)
    first = await in_a_thread(partial(next, events))  # what is wrong with the question is no event
    return EventStream(_told(request, asking, events, first), cache="no-store")


async def _told(request: Request, asking: _Asking, events: AskEvents, first: AskEvent) -> AsyncIterator[bytes]:
    text = ""
    try:
        async with aclosing(each_event(events, first)) as told:
            async for event in told:
                if isinstance(event, AnswerText):
                    text += event.text
                    yield _event("text", rendered(text, {}))
                elif isinstance(event, Answer):
                    turn, carried = asking.after(event)
                    shown = part_of_page(request, "ask_turn.html", turn=turn, asked=asking.question.parameters)
                    yield _event("turn", {"html": shown, **carried, "sources": len(turn.sources)})
                elif event is not None:
                    yield _event("status", _tool_words(event))
                else:
                    yield KEEPALIVE_COMMENT
    except Exception as error:  # noqa: BLE001 - the status has been sent: the page gets every error as an event
        answer = await answer_to_failure(request, error)
        yield _event("problem", said(_detail(answer)))


async def _answered(request: Request, asking: _Asking) -> Response:
    """Return the page with the whole answer."""
    try:
        answer = await answer_of(await in_a_thread(asking.events), request)
    except QueryError as error:
        return asking.page(request, 400, problem=str(error))
    if isinstance(answer, Response):
        return answer if answer.status_code == LEFT else asking.page(request, 503, problem=_detail(answer))
    turn, carried = asking.after(answer)
    return asking.page(request, turns=[*asking.earlier, turn], carried=carried, typed="")


def _passages(request: Request, asking: _Asking) -> Response:
    """Return the page with the best passages, in place of an answer."""
    asked = asking.question
    try:
        found = asking.knowledge.search(
            asked.q,
            seen_collections(asking.knowledge, asking.visitor, asked.collections),
            A_PAGE,
            filters=asked.filters or None,
        )
    except QueryError as error:
        return asking.page(request, 400, problem=str(error))
    return asking.page(request, found=found, results=[shown_hit(hit, str(request.base_url)) for hit in found], offset=0)


def _tool_words(used: ToolUse) -> str:
    if used.query is None:
        return gettext("Looks into a document")
    words = ngettext(
        "Searched for “%(words)s”: %(number)s passage. The model reads them",
        "Searched for “%(words)s”: %(number)s passages. The model reads them",
        used.found or 0,
    )
    return words % {"words": used.query, "number": used.found}


def _event(name: str, data: Any) -> bytes:
    return format_sse_event(event=name, data_str=json.dumps(data))


def _detail(answer: Response) -> str:
    return str(json.loads(bytes(answer.body))["detail"])
