"""The tools of a model: `search` and `fetch`, which only read, and only what the caller of the question may see."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError, create_model

from sourcebook.answering.completion import ToolCall
from sourcebook.answering.prompt import shown
from sourcebook.answering.sources import Sources
from sourcebook.contract.answers import Source, ToolUse
from sourcebook.contract.asking import ToolOption
from sourcebook.contract.documents import Document
from sourcebook.contract.filters import FILTER_NAMES, Filters
from sourcebook.contract.narrowing import narrowed
from sourcebook.contract.search_results import SearchResults
from sourcebook.errors import QueryError, UnknownDocumentError
from sourcebook.search.ranking.relevance import DECIDING

FETCHED: Final = 4_000
"""Characters of a document that one call fetches, at most."""
_LARGEST_ID: Final = (1 << 63) - 1
_NO_QUERY: Final = "This cannot be searched for: ask in a plain sentence."
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


SEARCH_OPTIONS: Final[Mapping[ToolOption, Any]] = {
    "tags": (
        Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=20)],
        Field(default=[], description="Only documents with one of these tags."),
    ),
    "filters": (
        dict[str, Any],
        Field(
            default={},
            description=f'Only documents that match, such as {{"languages": "en"}}: {", ".join(FILTER_NAMES)}.',
        ),
    ),
    "neighbours": (
        Annotated[StrictInt, Field(ge=0, le=3)],
        Field(default=0, description="Passages before and after each, too."),
    ),
}
"""Arguments of a search that a program may allow a model, beside those that every search has."""
TOOL_OPTIONS: Final[tuple[ToolOption, ...]] = get_args(ToolOption)


class FetchCall(BaseModel):
    """Read a part of a document that a search has found, from a character of its text on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document: StrictInt = Field(ge=1, le=_LARGEST_ID, description="The number of the document, as a search gave it.")
    start: StrictInt = Field(default=0, ge=0, le=_LARGEST_ID, description="Character to begin with, counted from 0.")


@cache
def tool_arguments(options: tuple[ToolOption, ...] = ()) -> Mapping[str, type[BaseModel]]:
    """Return the types of the arguments of each tool, by its name."""
    allowed = {name: made for name, made in SEARCH_OPTIONS.items() if name in options}
    search = create_model("SearchCall", __base__=SearchCall, __doc__=SearchCall.__doc__, **allowed)
    return {"search": search, "fetch": FetchCall}


ToolFormat = Literal["openai", "responses", "anthropic"]


def tool_schemas(
    format: ToolFormat = "openai",  # noqa: A002 - as the contexts' option
    tool_options: Sequence[ToolOption] = TOOL_OPTIONS,
) -> list[dict[str, Any]]:
    """Return the tools as a protocol describes functions."""
    if format not in get_args(ToolFormat):
        raise QueryError(f"the format is {format!r}; it must be one of {', '.join(get_args(ToolFormat))}")
    unknown = next((each for each in tool_options if each not in TOOL_OPTIONS), None)
    if unknown is not None:
        raise QueryError(f"tool_options have {unknown!r}; there are {', '.join(TOOL_OPTIONS)}")
    made = []
    for name, arguments in tool_arguments(tuple(tool_options)).items():
        told = {"name": name, "description": arguments.__doc__}
        if format == "anthropic":
            made.append({**told, "input_schema": _schema(arguments)})
        elif format == "responses":
            made.append({"type": "function", **told, "parameters": _schema(arguments)})
        else:
            made.append({"type": "function", "function": {**told, "parameters": _schema(arguments)}})
    return made


@cache
def _json_schema(arguments: type[BaseModel]) -> str:
    """Return the schema of arguments as JSON: pydantic takes milliseconds to make it, for every question."""
    return json.dumps(arguments.model_json_schema())


def _schema(arguments: type[BaseModel]) -> dict[str, Any]:
    schema = json.loads(_json_schema(arguments))
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

    def __init__(self, reach: Reach, sources: Sources, options: tuple[ToolOption, ...] = ()) -> None:
        self._reach = reach
        self._sources = sources
        self._arguments = tool_arguments(options)
        self._run: set[str] = set()
        self.searches: list[str] = []
        self.is_doubtful = True
        """Whether no search has found anything that is clearly relevant."""

    def find(
        self,
        query: str,
        limit: int,
        tags: Sequence[str] = (),
        filters: Mapping[str, Any] | None = None,
        neighbours: int = 0,
    ) -> tuple[list[Source], bool]:
        """Search; return the passages that are new to the model, and whether anything relevant was found.

        Raises:
            SourcebookError: see `KnowledgeBase.search`.
        """
        within = narrowed(self._reach.filters, tags, filters)
        self.searches.append(query)
        found = self._reach.search(
            query, self._reach.collections, limit, filters=within, neighbours=neighbours or None, log=False
        )
        if found.nothing_relevant:
            return [], False
        self.is_doubtful &= not any(each.relevance >= CLEAR_FROM for each in found[:DECIDING])
        added = [source for each in found for source in self._sources.add_result(each)]
        return [source for source, is_new in added if is_new], len(found) > 0

    def run(self, call: ToolCall) -> tuple[str, ToolUse | None]:
        """Run a call of the model's; return the text of its result, and what was done where something was."""
        kind = self._arguments.get(call.name)
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
        options = call.model_dump(exclude={"query", "limit"}, exclude_defaults=True)
        asked = json.dumps([call.query, options], sort_keys=True)
        if asked in self._run or (not options and call.query in self.searches):
            return "This was searched for before.", None
        try:
            new, _ = self.find(call.query, call.limit, **options)
        except QueryError as error:
            # Without options, what is wrong is the query, and the error's advice is for people.
            return f"This cannot be searched for: {error}" if options else _NO_QUERY, None
        self._run.add(asked)
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
