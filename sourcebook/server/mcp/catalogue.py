"""The tools that an agent is offered: names, descriptions, arguments and answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from sourcebook.server.mcp.arguments import (
    ChatGptFetchArguments,
    ChatGptSearchArguments,
    CollectionsArguments,
    FetchArguments,
    ListArguments,
    SearchArguments,
)
from sourcebook.server.mcp.tools import chatgpt, fetch, listings, search


@dataclass(frozen=True)
class OfferedTool:
    """A tool that only reads."""

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    answer: type[BaseModel]
    run: Callable[..., BaseModel]
    """Called with the knowledge base, the grant and the arguments."""


TOOLS: Final = (
    OfferedTool(
        "search_documents",
        "Search documents",
        "Find the passages that answer a question, in the user's own documents, web sites and recordings. Each result "
        'has a citation: quote its title and URI. Write the question in full; a passage must hold `"a phrase"` and '
        "must not hold `-word`.",
        SearchArguments,
        search.SearchAnswer,
        search.search_documents,
    ),
    OfferedTool(
        "fetch_document",
        "Fetch a document",
        "Read a document, or a range of its characters or passages, as Markdown. `document` is an id or a URI from "
        "search_documents, or the end of a path.",
        FetchArguments,
        fetch.FetchAnswer,
        fetch.fetch_document,
    ),
    OfferedTool(
        "list_collections",
        "List collections",
        "List the collections of documents that can be searched, with the number of documents of each.",
        ListArguments,
        listings.CollectionsAnswer,
        listings.list_collections,
    ),
    OfferedTool(
        "list_sources",
        "List sources",
        "List the folders, web sites and Git repositories that collections are made of, with the time of the last "
        "reading.",
        CollectionsArguments,
        listings.SourcesAnswer,
        listings.list_sources,
    ),
    OfferedTool(
        "get_statistics",
        "Get statistics",
        "Count the documents of collections by state, kind, media type and language, and the failures by class.",
        CollectionsArguments,
        listings.StatisticsAnswer,
        listings.get_statistics,
    ),
)
"""Tools that are always offered."""

CHATGPT_TOOLS: Final = (
    OfferedTool(
        "search",
        "Search",
        "Find the documents that answer a question. Returns ids for fetch.",
        ChatGptSearchArguments,
        chatgpt.ChatGptSearchAnswer,
        chatgpt.search,
    ),
    OfferedTool(
        "fetch",
        "Fetch",
        "Return the text of a document by an id from search; of a long one the part that answers.",
        ChatGptFetchArguments,
        chatgpt.ChatGptFetchAnswer,
        chatgpt.fetch,
    ),
)
"""Tools in ChatGPT's shape."""
