"""The tools of a model: `search` and `fetch`, which only read, and only what the caller of the question may see."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from sourcebook.answering.completion import ToolCall
from sourcebook.answering.prompt import shown
from sourcebook.answering.sources import Sources
from sourcebook.contract.answers import Source, ToolUse
from sourcebook.contract.documents import Document
from sourcebook.contract.filters import Filters
from sourcebook.contract.search_results import SearchResults
from sourcebook.errors import QueryError, UnknownDocumentError
from sourcebook.search.ranking.relevance import DECIDING

FETCHED: Final = 4_000
"""Characters of a document that one call fetches, at most."""
_LARGEST_ID: Final = (1 << 63) - 1
CLEAR_FROM: Final = 0.15
"""Relevance of a search's best passage from which something is clearly relevant. Chosen on the half of the questions
that nothing is reported on: 96 % of those of other sets find no such passage, and .7 % of the answerable ones."""
_BREAK: Final = 400
"""Characters before the end of a fetched part in which a line's end is looked for."""


class SearchCall(BaseModel):
    """Find passages of the user's documents that answer a question. Write the question in full."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: str = Field(min_length=1, max_length=1_000, description="A question, or words to look for.")
    limit: StrictInt = Field(default=5, ge=1, le=10, description="Passages, at most.")


class FetchCall(BaseModel):
    """Read a part of a document that a search has found, from a character of its text on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document: StrictInt = Field(ge=1, le=_LARGEST_ID, description="The number of the document, as a search gave it.")
    start: StrictInt = Field(default=0, ge=0, le=_LARGEST_ID, description="Character to begin with, counted from 0.")


TOOLS: Final[Mapping[str, type[BaseModel]]] = {"search": SearchCall, "fetch": FetchCall}


ToolFormat = Literal["openai", "responses", "anthropic"]


def tool_schemas(format: ToolFormat = "openai") -> list[dict[str, Any]]:  # noqa: A002 - as the contexts' option
    """Return the tools as a protocol describes functions."""
    if format not in get_args(ToolFormat):
        raise QueryError(f"the format is {format!r}; it must be one of {', '.join(get_args(ToolFormat))}")
    made = []
    for name, arguments in TOOLS.items():
        told = {"name": name, "description": arguments.__doc__}
        if format == "anthropic":
            made.append({**told, "input_schema": _schema(arguments)})
        elif format == "responses":
            made.append({"type": "function", **told, "parameters": _schema(arguments)})
        else:
            made.append({"type": "function", "function": {**told, "parameters": _schema(arguments)}})
    return made


def _schema(arguments: type[BaseModel]) -> dict[str, Any]:
    schema = arguments.model_json_schema()
    properties = {
        name: {key: value for key, value in each.items() if key != "title"}
        for name, each in schema["properties"].items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


@dataclass(frozen=True, slots=True)
class Reach:
    """Reach of a model: searches among the caller's collections, and documents that they have found."""

    search: Callable[..., SearchResults]
    """`KnowledgeBase.search`."""
    show: Callable[[int], Document]
    """`KnowledgeBase.show`, redacted."""
    collections: Sequence[str] | None
    filters: Filters | Mapping[str, Any] | None


class Tools:
    """Runs the calls of one session. Whatever a call asks for, it reads, and it reads within its reach."""

    def __init__(self, reach: Reach, sources: Sources) -> None:
        self._reach = reach
        self._sources = sources
        self.searches: list[str] = []
        self.is_doubtful = True
        """Whether no search has found anything that is clearly relevant."""

    def find(self, query: str, limit: int) -> tuple[list[Source], bool]:
        """Search; return the passages that are new to the model, and whether anything relevant was found.

        Raises:
            SourcebookError: see `KnowledgeBase.search`.
        """
        self.searches.append(query)
        found = self._reach.search(query, self._reach.collections, limit, filters=self._reach.filters, log=False)
        if found.nothing_relevant:
            return [], False
        self.is_doubtful &= not any(each.relevance >= CLEAR_FROM for each in found[:DECIDING])
        added = [self._sources.add_result(each) for each in found]
        return [source for source, is_new in added if is_new], len(found) > 0

    def run(self, call: ToolCall) -> tuple[str, ToolUse | None]:
        """Run a call of the model's; return the text of its result, and what was done where something was."""
        kind = TOOLS.get(call.name)
        if kind is None:
            return "There is no such tool: there is search, and there is fetch.", None
        try:
            arguments = kind.model_validate(_decoded(call.arguments))
        except (ValidationError, ValueError):
            return f"The arguments are not allowed: {call.name} takes {json.dumps(_schema(kind))}", None
        if isinstance(arguments, FetchCall):
            return self._fetch(arguments)
        assert isinstance(arguments, SearchCall)  # noqa: S101 - for the type checker
        return self._search(arguments)

    def _search(self, call: SearchCall) -> tuple[str, ToolUse | None]:
        if call.query in self.searches:
            return "This was searched for before.", None
        try:
            new, _ = self.find(call.query, call.limit)
        except QueryError:
            return "This cannot be searched for: ask in a plain sentence.", None
        use = ToolUse("search", call.query, None, len(new))
        return shown(new) if new else "Nothing more was found.", use

    def _fetch(self, call: FetchCall) -> tuple[str, ToolUse | None]:
        if not self._sources.has_document(call.document):
            return "No search has found this document: search first.", None
        try:
            document = self._reach.show(call.document)
        except UnknownDocumentError:
            return "The document is no longer there.", None
        if call.start >= len(document.text):
            return f"The document ends at character {len(document.text)}.", None
        end = _end_of_part(document.text, call.start)
        source, is_new = self._sources.add_part(document, call.start, end)
        rest = f"\n\nIt goes on at character {end}." if end < len(document.text) else ""
        return shown([source]) + rest, ToolUse("fetch", None, call.document, int(is_new))


def _end_of_part(text: str, start: int) -> int:
    end = start + FETCHED
    if end >= len(text):
        return len(text)
    line = text.rfind("\n", end - _BREAK, end)
    return line + 1 if line > start else end


def _decoded(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except RecursionError:
        raise ValueError("nested too deeply") from None
