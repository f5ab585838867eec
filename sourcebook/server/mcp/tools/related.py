"""The tool `find_related`: what a document is related to."""

from pydantic import BaseModel, Field

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.mcp.arguments import RelatedArguments
from sourcebook.server.mcp.budget import SENTENCE_TOKENS, clipped, fitting
from sourcebook.server.visibility import existing_document

_LONGEST = 500
"""Characters of a title or of what is written."""


class Related(BaseModel):
    """A related document."""

    kind: str
    direction: str = Field(description="`out`: your document requires (references, …) this one; `in`: this one yours.")
    document: int | None = Field(default=None, description="Its id, for fetch_document; none where it is not there.")
    title: str | None = None
    uri: str | None = None
    written: str = Field(description="The target as it is written.")


class RelatedAnswer(BaseModel):
    """Related documents, superseding and superseded ones first."""

    related: list[Related]
    how_to_go_on: str | None = Field(default=None, description="What is left out, and how to ask for it.")


def find_related(knowledge: KnowledgeBase, grant: Grant, asked: RelatedArguments) -> RelatedAnswer:
    """Return what a document is related to.

    Raises:
        NotFoundError: it does not exist for the caller.
        QueryError: several collections have it, and none is named.
    """
    found = existing_document(knowledge, grant, asked.document, asked.collection, reading=None).item
    if found.document_id is None:
        return RelatedAnswer(related=[])
    entries = [
        Related(
            kind=each.kind,
            direction=each.direction,
            document=each.document_id,
            title=None if each.title is None else clipped(each.title, _LONGEST),
            uri=each.uri,
            written=clipped(each.written, _LONGEST),
        )
        for each in knowledge.related(
            found.document_id, kinds=asked.kinds, direction=asked.direction, dangling=asked.dangling
        )
    ]
    shown = fitting(entries, asked.max_tokens - 2 * SENTENCE_TOKENS)
    if shown == len(entries):
        return RelatedAnswer(related=entries)
    said = f"{len(entries) - shown} more: ask for fewer kinds or one direction, or for more max_tokens."
    return RelatedAnswer(related=entries[:shown], how_to_go_on=said)
