"""The tool `fetch_document`: the text of a document, or a range of it."""

from typing import Any, Final

from pydantic import BaseModel, Field

from sourcebook.context.fence import harmless
from sourcebook.contract.documents import Document, Passage
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.mcp.arguments import FetchArguments
from sourcebook.server.mcp.budget import MOST_TOKENS, SENTENCE_TOKENS, beginning, tokens_of
from sourcebook.server.mcp.citations import Citation, cite_document
from sourcebook.server.visibility import visible_document

_METADATA_SHARE: Final = 4
"""Part of an answer, as its divisor, that metadata may have."""


class FetchAnswer(BaseModel):
    """A document, or a part of it."""

    document: int | None
    collection: str
    citation: Citation
    text: str = Field(description="The text as Markdown, from `start` to `end`.")
    start: int = Field(description="Start of the text in the document, in characters.")
    end: int
    characters: int = Field(description="Characters of the whole document.")
    passages: int = Field(description="Searchable passages of the whole document.")
    next_start: int | None = Field(default=None, description="`start` of the rest of what was asked for.")
    how_to_go_on: str | None = Field(default=None, description="What is left out, and how to ask for it.")
    state: str
    kind: str
    media_type: str | None = None
    language: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    left_out: dict[str, int] | None = Field(
        default=None, description="What the document holds and its text does not, counted by kind."
    )


def fetch_document(knowledge: KnowledgeBase, grant: Grant, asked: FetchArguments) -> FetchAnswer:
    """Return the text of a document, as much of what was asked for as the answer holds.

    Raises:
        NotFoundError: it does not exist for the caller.
        QueryError: it has no such range, or several collections have it.
    """
    document = visible_document(knowledge, grant, asked.document, asked.collection, unredacted=asked.unredacted)
    return part_of(document, asked)


def part_of(document: Document, asked: FetchArguments) -> FetchAnswer:
    """Return a part of a document in an answer of at most `max_tokens` tokens.

    Raises:
        QueryError: it has no such range.
    """
    start, end = _range(document, asked)
    item = document.item
    is_whole = start == 0 and end == len(document.text)
    answer = FetchAnswer(
        document=item.document_id,
        collection=item.collection,
        citation=cite_document(document, None if is_whole else _passage_at(document, start)),
        text="",
        start=start,
        end=end,
        characters=len(document.text),
        passages=len(document.passages),
        state=item.state,
        kind=item.kind,
        media_type=item.media_type,
        language=item.language,
        tags=document.tags or None,
        left_out=item.left_out or None,
    )
    left_out = []
    if document.metadata and tokens_of(document.metadata) <= asked.max_tokens // _METADATA_SHARE:
        answer.metadata = document.metadata
    elif document.metadata:
        left_out.append("the metadata")
    room = asked.max_tokens - tokens_of(answer) - SENTENCE_TOKENS
    cut = beginning(document.text[start:end], room)
    answer.text = harmless(cut).text
    while cut and (over := tokens_of(answer.text) - room) > 0 and answer.text != cut:
        cut = beginning(cut, tokens_of(cut) - over)
        answer.text = harmless(cut).text
    answer.end = start + len(cut)
    if answer.end < end:
        answer.next_start = answer.end
        until = "" if end == len(document.text) else f" and end={end}"
        left_out.append(f"characters {answer.end} to {end}: ask again with start={answer.end}{until}")
    if left_out:
        more = "" if asked.max_tokens == MOST_TOKENS else f" A larger max_tokens, up to {MOST_TOKENS}, shows more."
        answer.how_to_go_on = f"Left out: {'; '.join(left_out)}.{more}"
    return answer


def _range(document: Document, asked: FetchArguments) -> tuple[int, int]:
    """Return the range that was asked for, in characters."""
    length = len(document.text)
    if asked.first_passage is None and asked.last_passage is None:
        end = length if asked.end is None else min(asked.end, length)
        if asked.start and asked.start >= end:
            raise QueryError(f"start is {asked.start}; it must be below {end}, where what was asked for ends")
        return asked.start, end
    if not document.passages:
        raise QueryError("the document has no passages: leave first_passage and last_passage out")
    most = len(document.passages) - 1
    first = asked.first_passage or 0
    last = most if asked.last_passage is None else min(asked.last_passage, most)
    if first > last:
        raise QueryError(f"first_passage is {first}; it must be {last} or less, the last passage that was asked for")
    return document.passages[first].start_char, document.passages[last].end_char


def _passage_at(document: Document, start: int) -> Passage | None:
    """Return the passage that stands where a part begins: the last one that begins there or before."""
    found = None
    for passage in document.passages:
        if passage.start_char > start:
            break
        found = passage
    return found
