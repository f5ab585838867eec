"""`sourcebook search`: ask the knowledge base."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, as_text
from sourcebook.cli.output import console, one_line, print_json, safe
from sourcebook.speech.clock import media_fragment

if TYPE_CHECKING:
    from sourcebook.search.results import SearchResult, SearchResults

SNIPPET = 320
"""Characters of a passage that are shown."""


class Mode(StrEnum):
    """How to search."""

    hybrid = "hybrid"
    vector = "vector"
    keyword = "keyword"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("search")(search)


def search(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="A question, or words to look for.")],
    collections: Collections = None,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="NUMBER", help="How many passages, at most.")] = 5,
    mode: Annotated[
        Mode, typer.Option("--mode", help="By meaning and by words (hybrid), by meaning (vector), by words (keyword).")
    ] = Mode.hybrid,
    as_json: Json = False,
) -> None:
    """Find the passages that answer a question, best first, with where each one stands.

    Every collection is searched unless some are named. The score only ranks the passages of one search. A query that
    begins with a dash comes after `--`.

    **Example:** `sourcebook search "How long do the batteries last?" -c handbook -n 3`
    """
    from sourcebook.search.request import SearchRequest

    words = as_text(" ".join(query))
    SearchRequest.checked(words, collections or None, limit, mode)  # says what is wrong before anything is opened
    results = _search(CommandContext.of(ctx), words, collections or None, limit, mode)
    if as_json:
        print_json(results.as_dict())
        return
    for rank, result in enumerate(results, start=1):
        _show(rank, result)
    for leg, reason in results.dropped_legs.items():
        console().print(safe(f"Without the {leg} leg: {reason}.", "dim"), soft_wrap=True)
    if not results:
        console().print("No passage was found. What there is: sourcebook status", soft_wrap=True)


def _search(
    context: CommandContext, query: str, collections: list[str] | None, limit: int, mode: Mode
) -> "SearchResults":
    from sourcebook.knowledge_base import KnowledgeBase
    from sourcebook.search.results import SearchResults

    if context.is_empty(collections or ()):
        return SearchResults((), 0.0, {})
    with KnowledgeBase(context.open_database()) as knowledge:
        return knowledge.search(query, collections, limit, mode.value)


def _show(rank: int, result: "SearchResult") -> None:
    heading = safe(f"{rank}. ")
    heading.append_text(safe(one_line(result.title or result.uri, 200), "bold"))
    path = [part for part in result.heading_path if part != result.title]
    if path:
        heading.append_text(safe(f" › {one_line(' › '.join(path), 300)}"))
    fragment = result.anchor or media_fragment(result.start_seconds, result.end_seconds)
    where = f"{result.uri}#{fragment}" if fragment else result.uri
    place = f"page {result.page}, " if result.page is not None else ""
    place += f"{result.time_span}, " if result.time_span is not None else ""
    ranks = " and ".join(
        f"{number}. {by}"
        for number, by in ((result.vector_rank, "by meaning"), (result.keyword_rank, "by words"))
        if number is not None
    )
    out = console()
    out.print(heading, soft_wrap=True)
    out.print(safe(f"   {place}score {result.score:.4f} ({ranks}), {result.collection}", "dim"), soft_wrap=True)
    out.print(safe(f"   {where}", "cyan"), soft_wrap=True)
    out.print(_indented(one_line(_without_heading(result.text), SNIPPET)))
    out.print()


def _without_heading(text: str) -> str:
    """Return a passage without the heading it begins with: that is shown above it."""
    first, _, rest = text.lstrip().partition("\n")
    return rest if first.startswith("#") and rest.strip() else text


def _indented(text: str) -> "object":
    from rich.padding import Padding

    return Padding(safe(text), (0, 0, 0, 3))
