"""The tool `get_context`: passages for a question as one text with numbered sources."""

from collections.abc import Collection
from typing import Final

from pydantic import BaseModel, Field

from sourcebook.contract.context_results import ContextResult
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.mcp.arguments import ContextArguments
from sourcebook.server.mcp.budget import tokens_of
from sourcebook.server.searching import context_as_asked

_SHARE: Final = 0.85
"""Share of the budget for the text at first; the rest is for sources, and for what JSON adds."""
_SMALLER: Final = 0.9
"""Share of its budget that a text has after one that was too long, at most."""
_ATTEMPTS: Final = 8


class QuotedDocument(BaseModel):
    """A source of the text."""

    number: int = Field(description="Its number in the text.")
    document: int = Field(description="Its id, for fetch_document.")
    collection: str


class ContextAnswer(BaseModel):
    """A text of passages with numbered sources."""

    text: str
    sources: list[QuotedDocument]
    left_out: int = Field(description="Passages that repeat others or have no room.")
    nothing_relevant: bool | None = Field(
        default=None, description="Whether passages were found, but none that is relevant."
    )
    notes: list[str] | None = None
    seconds_behind: float | None = Field(default=None, description="How far the index searched may be behind.")


def get_context(
    knowledge: KnowledgeBase, grant: Grant, asked: ContextArguments, rerankers: Collection[str] = ()
) -> ContextAnswer:
    """Return a context whose answer has at most `max_tokens` tokens."""
    budget = int(asked.max_tokens * _SHARE)
    for _ in range(_ATTEMPTS):
        answer = _answer(context_as_asked(knowledge, grant, asked, rerankers, max_tokens=max(1, budget)))
        over = tokens_of(answer) - asked.max_tokens
        if over <= 0:
            return answer
        budget = min(budget - over - over // 4, int(budget * _SMALLER))
    return answer.model_copy(
        update={"text": "", "sources": [], "notes": ["the text does not fit: ask for more tokens"]}
    )


def _answer(made: ContextResult) -> ContextAnswer:
    return ContextAnswer(
        text=made.text,
        sources=[
            QuotedDocument(number=source.number, document=source.document_id, collection=source.collection)
            for source in made.sources
        ],
        left_out=sum(each.reason != "cut" for each in made.left_out),
        nothing_relevant=made.nothing_relevant or None,
        notes=list(made.notes) or None,
        seconds_behind=made.seconds_behind,
    )
