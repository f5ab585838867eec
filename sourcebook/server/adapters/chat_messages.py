"""Requests of OpenAI's protocol of chat completions, and what `ask` makes of their messages."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from sourcebook.contract.asking import LONGEST_TURN, MOST_TURNS
from sourcebook.server.adapters.openai_errors import ParameterError
from sourcebook.server.request_models import as_whole

_TEXT: Final = "text"
_LONGEST: Final = 1_000_000
"""Characters of a text, at most; a question has fewer."""
_MOST_MESSAGES: Final = 1_000
_REFUSED: Final = {
    "tools": "this model calls no tools of the caller's: leave tools out",
    "functions": "this model calls no functions of the caller's: leave functions out",
    "logprobs": "there are no probabilities of tokens: leave logprobs out",
    "stop": "an answer ends with its last sentence that holds: leave stop out",
    "audio": "there is no sound: leave audio out",
    "prediction": "leave prediction out",
    "web_search_options": "answers come from the collections alone: leave web_search_options out",
}
"""Parameters that would change what an answer is, and the sentence for who sends one."""


class MessagePart(BaseModel):
    """A part of a message."""

    model_config = ConfigDict(frozen=True)

    type: str
    text: Annotated[str, Field(max_length=_LONGEST)] | None = None


class Message(BaseModel):
    """A message of the conversation."""

    model_config = ConfigDict(frozen=True)

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[str, Field(max_length=_LONGEST)] | list[MessagePart] | None = None


class StreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(frozen=True)

    include_usage: StrictBool | None = False


class ChatWanted(BaseModel):
    """A conversation; `temperature`, `max_tokens` and their like are the operator's to set and have no effect."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        json_schema_extra={
            "examples": [
                {"model": "sourcebook", "messages": [{"role": "user", "content": "How long do the batteries last?"}]}
            ]
        },
    )

    model: str = Field(description="`sourcebook`, or `sourcebook/` and the name of a collection.")
    messages: list[Message] = Field(max_length=_MOST_MESSAGES, description="The last one is the question.")
    stream: StrictBool | None = Field(default=False, description="Whether the answer comes in chunks.")
    stream_options: StreamOptions | None = None
    n: Annotated[int, Field(strict=True), BeforeValidator(as_whole)] | None = Field(
        default=1, description="Answers: 1, and no more."
    )
    response_format: dict[str, Any] | None = Field(default=None, description='`{"type": "text"}`, or nothing.')

    def check(self) -> None:
        """Refuse what would be another answer than the one that is given.

        Raises:
            ParameterError: it names the parameter.
        """
        if self.n not in {None, 1}:
            raise ParameterError("there is one answer to a question: leave n out", "n")
        if (self.response_format or {}).get("type", _TEXT) != _TEXT:
            raise ParameterError("answers are text with citations: leave response_format out", "response_format")
        for name, sentence in _REFUSED.items():
            if (self.model_extra or {}).get(name):
                raise ParameterError(sentence, name)

    def asked(self) -> tuple[str, dict[str, Any]]:
        """Return the question, and the options of `ask` that the messages before it make.

        The one place where a conversation becomes a question: turns of a user and an assistant are its history,
        messages of the system its instructions. Messages of tools are left out.

        Of a long conversation the last turns are taken, and of a long text its beginning.

        Raises:
            ParameterError: there is no question at the end, or a message holds something else than text.
        """
        texts = [(each.role, _text(each, number)) for number, each in enumerate(self.messages)]
        if not texts or texts[-1][0] != "user" or not texts[-1][1].strip():
            raise ParameterError("the last message must be of the user, and have a text: the question", "messages")
        options = {
            "history": _turns(texts[:-1])[-MOST_TURNS:],
            "instructions": "\n\n".join(text for role, text in texts if role in {"system", "developer"} and text)
            or None,
        }
        return texts[-1][1], {name: value for name, value in options.items() if value}


def _turns(texts: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Return the questions with their answers; a question without one is left out, as what was not asked."""
    turns, question = [], ""
    for role, text in texts:
        if role == "user":
            question = text
        elif role == "assistant" and text and question:
            turns.append({"question": question[:LONGEST_TURN], "answer": text[:LONGEST_TURN]})
            question = ""
    return turns


def _text(message: Message, number: int) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    other = next((each.type for each in message.content if each.type not in {_TEXT, "refusal"}), None)
    if other is not None:
        raise ParameterError(
            "this model reads text alone: a message with a picture, a sound or a file cannot be answered",
            f"messages.{number}.content",
        )
    return "\n".join(each.text or "" for each in message.content)
