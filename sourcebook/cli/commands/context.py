"""`sourcebook context`: passages for a language model, within a budget of tokens."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourcebook.cli.commands.search import Mode, SearchStrategy, Superseded
from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, Unredacted, as_text
from sourcebook.cli.output import print_json, without_controls

if TYPE_CHECKING:
    from sourcebook.contract.context_results import ContextResult

_SEARCH = "Search"


class Form(StrEnum):
    """Format of a context."""

    markdown = "markdown"
    xml = "xml"
    messages = "messages"
    anthropic = "anthropic"
    openai = "openai"


def context(
    ctx: typer.Context,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="A question, or words to look for.")],
    collections: Collections = None,
    max_tokens: Annotated[
        int, typer.Option("-t", "--max-tokens", metavar="NUMBER", help="Tokens of the context, at most.")
    ] = 4_000,
    form: Annotated[
        Form,
        typer.Option(
            "--format", help="A text (markdown, xml), or JSON: messages of a chat, blocks for Anthropic or OpenAI."
        ),
    ] = Form.markdown,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer",
            metavar="NAME",
            help="bound, an encoding (o200k_base), a model of OpenAI, or the folder of a model with a tokenizer.json.",
            show_default="o200k_base where bpe-openai is installed, else bound",
        ),
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="KEY=VALUE",
            help="Only documents that match; may be repeated. See sourcebook search.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    mode: Annotated[
        Mode,
        typer.Option("--mode", help="Vector and keyword search (hybrid), or one of them.", rich_help_panel=_SEARCH),
    ] = Mode.hybrid,
    strategy: Annotated[
        SearchStrategy,
        typer.Option("--strategy", help="auto: the form of the question decides.", rich_help_panel=_SEARCH),
    ] = SearchStrategy.fixed,
    neighbours: Annotated[
        int,
        typer.Option(
            "--neighbours",
            metavar="NUMBER",
            help="Passages before and after each one found that come with it.",
            rich_help_panel=_SEARCH,
        ),
    ] = 0,
    passages: Annotated[
        int | None,
        typer.Option(
            "--passages",
            metavar="NUMBER",
            help="Passages to search at a time.",
            show_default="by the budget",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option(
            "--rerank", metavar="MODEL", help="Rerank the first passages with a cross-encoder.", rich_help_panel=_SEARCH
        ),
    ] = None,
    generation: Annotated[
        list[int] | None,
        typer.Option(
            "--generation",
            metavar="ID",
            help="Search this generation instead of the active one; may be repeated.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    min_relevance: Annotated[
        float | None,
        typer.Option(
            "--min-relevance",
            metavar="0..1",
            help="Only passages of at least this relevance.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    superseded: Annotated[
        Superseded,
        typer.Option(
            "--superseded", help="behind: put documents behind those that supersede them.", rich_help_panel=_SEARCH
        ),
    ] = Superseded.shown,
    expand: Annotated[
        list[str] | None,
        typer.Option(
            "--expand",
            metavar="KIND",
            help="Add passages of the documents that the best ones lead to, by relations such as references.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    unredacted: Unredacted = False,
    as_json: Json = False,
) -> None:
    """Print what the documents say about a question as a context for a language model.

    As many passages as fit into the budget, by relevance, without repetitions, each document with one number. What
    comes from documents is fenced and made harmless: it is data, not instructions. Notes go to standard error.

    **Example:** `sourcebook context "How long do the batteries last?" --max-tokens 2000`

    - `sourcebook context "carry over leave" -c handbook --format messages`: the messages of a chat, as JSON

    - `sourcebook context "carry over leave" --json`: with sources, citations, and what was left out
    """
    from sourcebook.cli.filter_options import parse_filters
    from sourcebook.contract.search import ContextRequest

    asked = (as_text(" ".join(question)), collections or None, max_tokens, form.value)
    options: dict[str, Any] = {
        "tokenizer": as_text(tokenizer) if tokenizer is not None else None,
        "passages": passages,
        "filters": parse_filters(as_text(text) for text in filters or ()),
        "mode": mode.value,
        "strategy": strategy.value,
        "neighbours": neighbours,
        "rerank": as_text(rerank) if rerank is not None else None,
        "generation": generation or None,
        "min_relevance": min_relevance,
        "unredacted": unredacted,
        "superseded": superseded.value,
        "expand": [as_text(kind) for kind in expand or ()],
    }
    ContextRequest.checked(*asked, **options)  # reports errors before anything is opened
    opened = CommandContext.of(ctx)
    if opened.is_empty(collections or ()):
        typer.echo(f"Nothing was ingested into {without_controls(str(opened.home))} yet.", err=True)
        raise typer.Exit(1)
    made = _made(opened, asked, options)
    for note in made.notes:
        typer.echo(f"{without_controls(note[:1].upper() + note[1:])}.", err=True)
    if as_json:
        print_json(made.as_dict())
    elif made.blocks:
        print_json({"blocks": made.blocks} if form is Form.anthropic else {"messages": made.blocks})
    elif made.text:
        typer.echo(made.text)


def _made(opened: CommandContext, asked: tuple[Any, ...], options: dict[str, Any]) -> "ContextResult":
    from sourcebook.knowledge_base import KnowledgeBase

    with KnowledgeBase(opened.open_database()) as knowledge:
        return knowledge.context(*asked, **options)
