"""The tools `search` and `fetch` in the shape that ChatGPT expects of a connector.

An id is `DOCUMENT@CHARACTER`: `fetch` returns the whole document where it fits, else the part from that character on.
"""

import re
from typing import Final

from pydantic import BaseModel

from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.place import address_of
from sourcebook.server.mcp.arguments import ChatGptFetchArguments, ChatGptSearchArguments, FetchArguments
from sourcebook.server.mcp.tools.fetch import part_of
from sourcebook.server.searching import search_as_asked
from sourcebook.server.types import SearchQuery
from sourcebook.server.visibility import visible_document

_DOCUMENTS: Final = 10
_ID: Final = re.compile(r"(\d{1,18})(?:@(\d{1,12}))?")


class Found(BaseModel):
    """A document that answers."""

    id: str
    title: str
    url: str


class ChatGptSearchAnswer(BaseModel):
    """Documents that answer a query, best first."""

    results: list[Found]


class ChatGptFetchAnswer(BaseModel):
    """The text of a document, or a part of it."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


def search(knowledge: KnowledgeBase, grant: Grant, asked: ChatGptSearchArguments) -> ChatGptSearchAnswer:
    """Return the documents that answer a query."""
    found = search_as_asked(
        knowledge, grant, SearchQuery.of(query=asked.query, limit=_DOCUMENTS, group_by="document"), ()
    )
    return ChatGptSearchAnswer(
        results=[
            Found(
                id=f"{hit.document_id}@{hit.start_char}",
                title=hit.title or hit.uri,
                url=address_of(hit.link or hit.uri, hit),
            )
            for hit in found
        ]
    )


def fetch(knowledge: KnowledgeBase, grant: Grant, asked: ChatGptFetchArguments) -> ChatGptFetchAnswer:
    """Return the text of a document where it fits, else the part that begins at the character of the id.

    Raises:
        QueryError: the id is none.
        NotFoundError: the document does not exist for the caller.
    """
    matched = _ID.fullmatch(asked.id)
    if matched is None:
        raise QueryError("the id is none: use an id that search returned")
    document = visible_document(knowledge, grant, int(matched[1]))
    part = part_of(document, FetchArguments(document=int(matched[1])))
    start = min(int(matched[2] or 0), max(0, len(document.text) - 1))
    if part.next_start is not None and start:
        part = part_of(document, FetchArguments(document=int(matched[1]), start=start))
    metadata = {"collection": part.collection, "version": str(part.citation.version), "kind": part.kind}
    if part.end - part.start < part.characters:
        metadata["characters"] = f"{part.start} to {part.end} of {part.characters}"
    if part.next_start is not None:
        metadata["next"] = f"fetch the id {part.document}@{part.next_start} for the text that follows"
    if part.start:
        metadata["beginning"] = f"fetch the id {part.document}@0 for the beginning"
    return ChatGptFetchAnswer(
        id=asked.id,
        title=part.citation.title,
        text=part.text,
        url=part.citation.link or part.citation.uri,
        metadata=metadata,
    )
