"""The answer to a question, and the events by which it comes."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from sourcebook.model.plain_values import PlainValues

Flaw = Literal["no_such_source", "not_in_source"]
"""Reason why a citation was taken out: its number is none, or neither quotation nor sentence stands there."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation that was found in its source."""

    number: int
    """Number of the source, as it stands in the text of the answer."""
    quote: str
    """Text of the source there, character by character."""
    start: int
    """Start of the quote in the source's text, in characters."""
    end: int
    start_char: int | None
    """Start of the quote in the document's Markdown, in characters; None in context that the passage repeats."""
    end_char: int | None
    path: str | None = None
    """JSON pointer of the part of the answer's value that the citation bears out, such as `/total`; None without."""


@dataclass(frozen=True, slots=True)
class RemovedCitation:
    """A citation that was taken out of the answer."""

    number: int
    reason: Flaw


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that a model was shown."""

    number: int
    """Number by which it is cited, counted from 1."""
    document_id: int
    collection: str
    uri: str
    """Address of the document, with the anchor, page or time of the passage."""
    title: str
    heading_path: tuple[str, ...]
    page: int | None
    time_span: str | None
    version: int
    text: str
    """The text as it was shown, redacted where its collection asks for it."""
    start_char: int | None
    """Place of the end of the text's repeated context in the document, in characters; see `place`."""
    end_char: int | None
    page_label: str | None = None
    """Number printed on the page, such as `iii`; None where it has none."""

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a part of the text stands in the document's Markdown, in characters.

        None where the part lies in context that the passage repeats from further up.
        """
        if self.start_char is None or self.end_char is None:
            return None
        shift = self.end_char - len(self.text)
        return (start + shift, end + shift) if start + shift >= self.start_char else None


Refusal = Literal["nothing_relevant", "no_answer", "uncited", "schema", "limit", "content_filter"]
"""Reason of a refusal: no passage is relevant; the model finds no answer in them, or cites none that holds; its answer
does not keep to the schema; a limit of turns, tokens or cost was reached; the server withholds what the model wrote."""
REFUSALS: Final[Mapping[Refusal, str]] = MappingProxyType(
    {
        "nothing_relevant": "Nothing relevant was found, so no model was asked for an answer.",
        "no_answer": "The documents that were found do not answer this.",
        "uncited": "The model gave no answer that the documents bear out.",
        "schema": "The model gave no answer that keeps to the schema.",
        "limit": "The limit of turns, tokens or cost was reached before there was an answer.",
        "content_filter": "The server of the model withheld its answer.",
    }
)
"""Text of an answer that is a refusal."""


@dataclass(frozen=True, slots=True)
class Answer(PlainValues):
    """An answer with citations that were found in their sources, or a refusal."""

    question: str
    text: str
    """The answer; numbers in square brackets are those of `sources`."""
    refused: bool
    """Whether there is no answer: the text says why."""
    reason: Refusal | None
    citations: tuple[Citation, ...]
    sources: tuple[Source, ...]
    """Sources that are cited, in the order of their numbers."""
    removed_citations: tuple[RemovedCitation, ...]
    """Citations that the model wrote and that do not hold; they do not stand in the text."""
    removed_links: int
    """Links, pictures and addresses that were taken out of the text."""
    uncited_sentences: int
    """Sentences of the text without a citation."""
    searches: tuple[str, ...]
    """Queries: the question, and those of the model."""
    turns: int
    """Requests to the model."""
    session: str
    """Name of the conversation, or one of this question; the log of calls has it."""
    model: str
    provider: str
    """Name or host of the service."""
    prompt_tokens: int | None
    """Tokens that the model read in all turns; None where its server does not say."""
    answer_tokens: int | None
    cost: float | None
    """US dollars; None where the price or a number of tokens is unknown."""
    took_ms: float
    value: Any = None
    """The answer by a schema, of which `text` is the JSON; None without a schema and in a refusal."""

    def __str__(self) -> str:
        """Return the text with its sources, for `print`."""
        lines = [self.text]
        if self.sources:
            lines.append("")
            lines += [f"[{each.number}] {each.title} · {each.uri}" for each in self.sources]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A search or a look into a document on the way to an answer."""

    tool: Literal["search", "fetch"]
    query: str | None
    """Query of a search."""
    document_id: int | None
    """Document that was looked into."""
    found: int
    """Passages that the model had not been shown before."""


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The next part of the answer's text: whole sentences, whose citations hold."""

    text: str


AskEvent = ToolUse | AnswerText | Answer
"""Event on the way to an answer; the last one is the answer, whose text the parts make up unless it is a refusal."""
