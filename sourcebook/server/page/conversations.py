"""The visitor's conversations with a language model: listed, exported, deleted."""

from typing import Literal

import pydantic_core
from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.contract.ask_sessions import AskTurn
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.answers import answering_collections
from sourcebook.server.downloads import file_headers
from sourcebook.server.page.forms import ReaderForm, redirect_to
from sourcebook.server.page.rendering import render
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.visibility import NotFoundError, known_collections

router = APIRouter(include_in_schema=False)


@router.get("/ask/conversations")
def show_conversations(request: Request, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Show the visitor's conversations, the one that was continued last first."""
    found = knowledge.ask_sessions(owner=visitor.identity)
    models = answering_collections(knowledge)
    keeps = any(models.get(name, False) for name in known_collections(knowledge, visitor))
    return render(request, "conversations.html", conversations=found, keeps=keeps)


@router.get("/ask/conversations/{name}/export")
def export_conversation(
    name: str, knowledge: Knowledge, visitor: Visitor, form: Literal["markdown", "json"] = "markdown"
) -> Response:
    """Return a conversation as a file."""
    turns = kept_turns(knowledge, visitor, name)
    if form == "json":
        written = pydantic_core.to_json({"session": name, "turns": turns}, indent=2)
        return Response(written, media_type="application/json", headers=file_headers(f"{name}.json"))
    return Response(
        "\n".join(map(_as_markdown, turns)),
        media_type="text/markdown; charset=utf-8",
        headers=file_headers(f"{name}.md"),
    )


@router.post("/ask/conversations/{name}/delete")
def delete_conversation(name: str, knowledge: Knowledge, form: ReaderForm) -> Response:
    """Delete a conversation."""
    knowledge.forget_ask_session(name, owner=form.visitor.identity)
    return redirect_to("/ask/conversations")


def kept_turns(knowledge: KnowledgeBase, visitor: Grant, name: str) -> list[AskTurn]:
    """Return the turns of a visitor's conversation, the oldest first.

    Raises:
        NotFoundError: the visitor has no conversation of this name, or has none any more.
    """
    turns = knowledge.ask_session(name, owner=visitor.identity)
    if not turns:
        raise NotFoundError(gettext("there is no such conversation, or it is no longer kept"))
    return turns


def _as_markdown(turn: AskTurn) -> str:
    sources = "".join(f"- <{uri}>\n" for uri in turn.sources)
    asked = " ".join(turn.question.split())
    return f"## {asked}\n\n{turn.asked_at:%Y-%m-%d %H:%M} UTC\n\n{turn.answer}\n" + (f"\n{sources}" if sources else "")
