"""`sourcebook search`: search of the knowledge base."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, Unredacted, as_text
from sourcebook.cli.output import print_json, without_controls

if TYPE_CHECKING:
    from sourcebook.contract.search_results import SearchResults

_RANKING = "Ranking"
_SHOWN = "What is shown"


class Mode(StrEnum):
    """Mode of a search."""

    hybrid = "hybrid"
    vector = "vector"
    keyword = "keyword"


class FusionMethod(StrEnum):
    """Method that joins the rankings of vector and keyword search."""

    weighted = "weighted"
    rrf = "rrf"


class SearchStrategy(StrEnum):
    """Choice of weights and parts: the same for every query, or by its form."""

    fixed = "fixed"
    auto = "auto"


class Grouping(StrEnum):
    """Unit of a result: a passage or a document."""

    document = "document"


class Snippets(StrEnum):
    """Choice of the snippet of a passage without a word of the query."""

    words = "words"
    meaning = "meaning"


class Superseded(StrEnum):
    """Place of superseded documents."""

    shown = "shown"
    behind = "behind"


def search(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="A question, or words to look for.")],
    collections: Collections = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="KEY=VALUE",
            help="Only documents that match; may be repeated: kind=page, tag=policy, language=de, date>=2024-05, "
            "metadata.year>=2020, …",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="NUMBER", help="Maximum number of passages.")] = 5,
    offset: Annotated[int, typer.Option("--offset", metavar="NUMBER", help="Number of passages before this page.")] = 0,
    mode: Annotated[
        Mode, typer.Option("--mode", help="Vector and keyword search (hybrid), or one of them.")
    ] = Mode.hybrid,
    generation: Annotated[
        list[int] | None,
        typer.Option(
            "--generation", metavar="ID", help="Search this generation instead of the active one; may be repeated."
        ),
    ] = None,
    literal: Annotated[
        bool | None,
        typer.Option(
            "--literal/--operators",
            help="Quotes, dashes and title: are text, or operators also in running text. By default the query decides.",
            show_default=False,
        ),
    ] = None,
    typos: Annotated[
        bool,
        typer.Option("--typos", help="Replace words that no passage has by the nearest words that some have."),
    ] = False,
    fusion: Annotated[
        FusionMethod,
        typer.Option(
            "--fusion", help="Join both searches by their scores, or by ranks alone.", rich_help_panel=_RANKING
        ),
    ] = FusionMethod.weighted,
    strategy: Annotated[
        SearchStrategy,
        typer.Option(
            "--strategy",
            help="auto: codes, file names and quotes lean on words, several questions are searched one by one.",
            rich_help_panel=_RANKING,
        ),
    ] = SearchStrategy.fixed,
    rerank: Annotated[
        str | None,
        typer.Option(
            "--rerank",
            metavar="MODEL",
            help="Rerank the first 50 results with a cross-encoder: its folder or its name.",
            rich_help_panel=_RANKING,
        ),
    ] = None,
    diversity: Annotated[
        float,
        typer.Option(
            "--diversity",
            metavar="0..1",
            help="Diversity of the results.",
            rich_help_panel=_RANKING,
        ),
    ] = 0.0,
    neighbours: Annotated[
        int,
        typer.Option(
            "--neighbours",
            metavar="NUMBER",
            help="Passages to show before and after each result; > marks the result.",
            rich_help_panel=_SHOWN,
        ),
    ] = 0,
    group_by: Annotated[
        Grouping | None,
        typer.Option(
            "--group-by",
            help="One result a document: its best passage. --limit and --offset then count documents.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    snippets: Annotated[
        Snippets,
        typer.Option(
            "--snippets",
            help="Of a passage without a word of the query, show the beginning (words), or the sentence nearest in "
            "meaning.",
            rich_help_panel=_SHOWN,
        ),
    ] = Snippets.words,
    facets: Annotated[
        bool,
        typer.Option(
            "--facets", help="Count the documents found by kind, type, language, tag and year.", rich_help_panel=_SHOWN
        ),
    ] = False,
    min_relevance: Annotated[
        float | None,
        typer.Option(
            "--min-relevance",
            metavar="0..1",
            help="Only passages of at least this relevance, which is how likely a passage answers.",
            rich_help_panel=_SHOWN,
            show_default=False,
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Show the passages also where none is relevant.", rich_help_panel=_SHOWN),
    ] = False,
    superseded: Annotated[
        Superseded,
        typer.Option(
            "--superseded",
            help="behind: put documents behind those that supersede them.",
            rich_help_panel=_RANKING,
        ),
    ] = Superseded.shown,
    expand: Annotated[
        list[str] | None,
        typer.Option(
            "--expand",
            metavar="KIND",
            help="Name the documents, too, that the results lead to by relations of this kind, such as references.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show words, weights, times and plans of the search.", rich_help_panel=_SHOWN),
    ] = False,
    unredacted: Unredacted = False,
    as_json: Json = False,
) -> None:
    """Find the passages that answer a question, best first, with their positions.

    Every collection is searched unless some are named. The relevance of a passage, 0 to 1, is how likely it answers;
    where no passage is relevant, the command says so, and `--all` shows what was found all the same.

    Any word of a query may match. A passage must contain `"a phrase"` and must not contain `-word` or `-"a phrase"`;
    `title:word` must be in the title of the document. The shell removes double quotes, and the command reads a dash as
    an option: put such a query into single quotes, and `--` before one that begins with a dash.

    **Example:** `sourcebook search "How long do the batteries last?" -c handbook -n 3`

    - `sourcebook search '"power cut" -diesel title:manual'`: a phrase, an excluded word, a word of the title

    - `sourcebook search -- '-diesel generator'`: a query that begins with a dash

    - `sourcebook search "carry over leave" --filter kind=page --filter 'date>=2024-05'`: only some documents

    - `sourcebook search "survey marks" --group-by document --offset 5`: the second page of documents

    - `sourcebook search "survey marks" --neighbours 1 --explain`: with the passages around it, and the explanation
    """
    context = CommandContext.of(ctx)
    if not _is_elaborate(ctx) and context.is_empty(collections or ()):
        # Nothing that a search needs is even imported.
        _show_nothing(context, as_json=as_json)
        return
    from sourcebook.cli.filter_options import parse_filters
    from sourcebook.contract.search import SearchRequest

    asked = (as_text(" ".join(query)), collections or None, limit, mode.value)
    options: dict[str, Any] = {
        "offset": offset,
        "filters": parse_filters(as_text(text) for text in filters or ()),
        "fusion": fusion.value,
        "strategy": strategy.value,
        "neighbours": neighbours,
        "group_by": group_by.value if group_by is not None else None,
        "diversity": diversity,
        "rerank": as_text(rerank) if rerank is not None else None,
        "literal": literal,
        "typos": typos,
        "explain": explain,
        "generation": generation or None,
        "snippets": snippets.value,
        "facets": facets,
        "min_relevance": 0.0 if everything and min_relevance is None else min_relevance,
        "unredacted": unredacted,
        "superseded": superseded.value,
        "expand": [as_text(kind) for kind in expand or ()],
    }
    SearchRequest.checked(*asked, **options)  # reports errors before anything is opened
    if context.is_empty(collections or ()):
        _show_nothing(context, as_json=as_json)
        return
    results = _search(context, asked, options)
    if as_json:
        print_json(results.as_dict())
    else:
        from sourcebook.cli.passages import show_results

        show_results(results)


def _is_elaborate(ctx: typer.Context) -> bool:
    """Return whether options were given whose values have to be checked."""
    plain = {"query", "collections", "as_json", "mode", "explain", "literal", "everything", "unredacted"}
    sources = {name: ctx.get_parameter_source(name) for name in ctx.params if name not in plain}
    return any(source is not None and source.name == "COMMANDLINE" for source in sources.values())


def _show_nothing(context: CommandContext, *, as_json: bool) -> None:
    """Say that there is no knowledge base yet, and what to do."""
    begin = "sourcebook ingest" if context.configuration_path.exists() else "sourcebook ingest FOLDER"
    line = f"Nothing was ingested into {context.home} yet. Begin with  {begin}"
    if as_json:
        from sourcebook.contract.search_results import SearchResults

        print_json(SearchResults((), 0.0, {}, notes=(line,)).as_dict())
    else:
        typer.echo(without_controls(line))


def _search(
    context: CommandContext, asked: tuple[str, list[str] | None, int, Any], options: dict[str, Any]
) -> "SearchResults":
    from sourcebook.knowledge_base import KnowledgeBase

    with KnowledgeBase(context.open_database()) as knowledge:
        return knowledge.search(*asked, **options)
