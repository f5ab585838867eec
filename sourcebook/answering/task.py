"""The task of a question, beside its text: how to work, on which document, in which form, after which conversation."""

from dataclasses import dataclass

from sourcebook.answering.answer_schema import AnswerSchema
from sourcebook.contract.asking import EarlierTurn, ToolOption
from sourcebook.contract.documents import Document


@dataclass(frozen=True, slots=True)
class Task:
    """The part of a question beside its text; texts are as the model gets them."""

    instructions: str | None = None
    document: Document | None = None
    """Document under work, which the model reads whole or by pages."""
    pages: str | None = None
    schema: AnswerSchema | None = None
    """Form of the answer; None for a text."""
    history: tuple[EarlierTurn, ...] = ()
    tool_options: tuple[ToolOption, ...] = ()
    """Arguments of searches that the model may give, beside the query."""
