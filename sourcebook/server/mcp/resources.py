"""Documents as resources of the protocol: a list, and each by the URI of its template."""

import re
from typing import Final

from mcp import types

from sourcebook.context.fence import one_line, safe_address
from sourcebook.contract.documents import Item
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.cursors import LONGEST_CURSOR, cursor_of, place_of
from sourcebook.server.mcp.arguments import FetchArguments
from sourcebook.server.mcp.budget import MOST_TOKENS
from sourcebook.server.mcp.tools.fetch import part_of
from sourcebook.server.visibility import seen_collections, visible_document

TEMPLATE: Final = types.ResourceTemplate(
    name="document",
    title="Document",
    uri_template="sourcebook://documents/{document}",
    description="A document as Markdown, by its id.",
    mime_type="text/markdown",
)
_URI: Final = re.compile(r"sourcebook://documents/(\d{1,18})")
_PAGE: Final = 100
"""Documents of a page of the list."""
_LONGEST_TITLE: Final = 200
_LONGEST_URI: Final = 2_000


def list_documents(knowledge: KnowledgeBase, grant: Grant, cursor: str | None) -> types.ListResourcesResult:
    """Return a page of the documents that exist for a caller.

    Raises:
        QueryError: the cursor is none.
        NotFoundError: no collection exists for the caller.
    """
    if cursor is not None and len(cursor) > LONGEST_CURSOR:
        raise QueryError("the cursor is none: use the nextCursor of the page before")
    found = knowledge.documents(
        seen_collections(knowledge, grant, None),
        states=["ready"],
        limit=_PAGE + 1,
        after=None if cursor is None else place_of(cursor),
    )
    shown = found[:_PAGE]
    more = len(found) > _PAGE
    return types.ListResourcesResult(
        resources=[_resource(item) for item in shown if item.document_id is not None],
        next_cursor=cursor_of(shown[-1].collection, shown[-1].uri) if more else None,
    )


def read_document(knowledge: KnowledgeBase, grant: Grant, uri: str) -> types.ReadResourceResult:
    """Return a document as Markdown; of one with more than 20,000 tokens the beginning, and how to go on.

    Raises:
        QueryError: the URI is not of the template.
        NotFoundError: the document does not exist for the caller.
    """
    matched = _URI.fullmatch(uri)
    if matched is None:
        raise QueryError(f"there is no such resource: the URI of one is {TEMPLATE.uri_template}")
    document = visible_document(knowledge, grant, int(matched[1]))
    part = part_of(document, FetchArguments(document=int(matched[1]), max_tokens=MOST_TOKENS))
    contents = [types.TextResourceContents(uri=uri, mime_type="text/markdown", text=part.text)]
    if part.next_start is not None:
        said = f"Characters {part.next_start} to {part.characters} are left out: fetch_document has them."
        contents.append(types.TextResourceContents(uri=uri, mime_type="text/plain", text=said))
    return types.ReadResourceResult(contents=list(contents))


def _resource(item: Item) -> types.Resource:
    return types.Resource(
        name=one_line(item.title or item.uri, _LONGEST_TITLE),
        uri=f"sourcebook://documents/{item.document_id}",
        description=f"{safe_address(item.uri, _LONGEST_URI)} ({item.collection})",
        mime_type="text/markdown",
    )
