"""`sourcebook ask`: an answer of a language model, with its sources."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text
from sourcebook.cli.output import print_json, say, without_controls
from sourcebook.cli.request_options import Asked, with_options
from sourcebook.contract.asking import AskRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourcebook.contract.answers import Answer, AskEvent

_MODEL = "Model"


@with_options(AskRequest)
def ask(
    ctx: typer.Context,
    asked: Asked,
    question: Annotated[list[str] | None, typer.Argument(metavar="[QUESTION]", help="The question.")] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            help="Server to ask in place of the one that the collections name.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Its model; with --base-url.", rich_help_panel=_MODEL),
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(
            "--api-key-env",
            metavar="VARIABLE",
            help="The environment's variable with its key; with --base-url.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    no_tools: Annotated[
        bool,
        typer.Option(
            "--no-tools", help="Offer the model no search and fetch; with --base-url.", rich_help_panel=_MODEL
        ),
    ] = False,
    tool_schema: Annotated[
        bool, typer.Option("--tool-schema", help="Print the tools as JSON, for an agent of your own.")
    ] = False,
    tool_format: Annotated[
        str,
        typer.Option(
            "--tool-format",
            metavar="NAME",
            help="Their protocol: `openai`, `responses` or `anthropic`; with --tool-schema.",
        ),
    ] = "openai",
    as_json: Json = False,
) -> None:
    """Answer a question from the documents with the language model that collections name (`answering`).

    Each citation is looked up in the passage that it names: those that do not hold are taken out and counted. Where
    nothing relevant is found, no model is asked. The model may search and read, and change nothing.

    **Example:** `sourcebook ask "How long do the batteries last?" -c handbook`

    - `sourcebook ask "…" --base-url http://127.0.0.1:8080/v1 --model smollm2`: a server of your own
    - `sourcebook ask "What is the total?" --document invoice.pdf --answer-schema total.json --json`: a value of a form
    """
    if tool_schema:
        from sourcebook.answering.tools import TOOL_OPTIONS, tool_schemas

        allowed = asked["tool_options"] or TOOL_OPTIONS
        print_json({"tools": tool_schemas(tool_format, allowed)})  # type: ignore[arg-type] # it names the formats
        return
    if tool_format != "openai":
        raise typer.BadParameter("--tool-format belongs to --tool-schema")
    text = as_text(" ".join(question or ()))
    if not text.strip():
        raise typer.BadParameter("write the question behind the command")
    context = CommandContext.of(ctx, may_be_served=True)
    given = _given(base_url, model, api_key_env, no_tools=no_tools)
    if given is not None and context.server is not None:
        raise typer.BadParameter("a server asks the language models of its own settings: leave out --base-url")
    with context.knowledge() as knowledge:
        answer = _followed(knowledge.ask_stream(text, answering=given, **asked), shows=not as_json)
    if as_json:
        print_json(answer.as_dict())
    else:
        _show_sources(answer)


def _given(base_url: str | None, model: str | None, api_key_env: str | None, *, no_tools: bool) -> Any:
    """Return the settings that options give in place of those of the collections; None for none."""
    if base_url is None:
        if model or api_key_env or no_tools:
            raise typer.BadParameter("--model, --api-key-env and --no-tools belong to --base-url")
        return None
    if model is None:
        raise typer.BadParameter("--base-url needs --model")
    given: dict[str, Any] = {"base_url": base_url, "model": model, "tools": not no_tools}
    return given | ({"api_key_env": api_key_env} if api_key_env else {})


def _followed(events: "Iterator[AskEvent]", *, shows: bool) -> "Answer":
    """Print the text of an answer as it comes, and return the answer."""
    from sourcebook.contract.answers import Answer, AnswerText

    has_text = False
    for event in events:
        if isinstance(event, AnswerText) and shows:
            typer.echo(without_controls(event.text if has_text else event.text.lstrip()), nl=False)
            has_text = True
        elif isinstance(event, Answer):
            if has_text:
                typer.echo("")
            if shows and (event.refused or not has_text):
                say(event.text)
            return event
    raise AssertionError("a question without an answer")


def _show_sources(answer: "Answer") -> None:
    quotes: dict[int, list[str]] = {}
    for citation in answer.citations:
        quotes.setdefault(citation.number, []).append(" ".join(citation.quote.split()))
    for source in answer.sources:
        say("")
        say(f"[{source.number}] {source.title} · {source.uri}")
        for quote in quotes.get(source.number, []):
            say(f"“{quote}”", indent="    ")
    said = []
    if answer.removed_citations:
        said.append(f"{len(answer.removed_citations)} citations were taken out, as they do not hold")
    if answer.uncited_sentences:
        said.append(f"{answer.uncited_sentences} sentences have no citation")
    if answer.removed_links:
        said.append(f"{answer.removed_links} links were taken out")
    if said:
        say("")
        say(f"{'; '.join(said)}.")
