"""`sourcebook context`: passages for a language model, within a budget of tokens."""

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json
from sourcebook.cli.output import print_json, without_controls
from sourcebook.cli.request_options import Asked, with_options
from sourcebook.contract.search import ContextRequest


@with_options(
    ContextRequest,
    panel="Search",
    said={
        "neighbours": "Passages before and after each one found that come with it.",
        "expand": "Add passages of the documents that the best ones lead to, by relations such as references.",
    },
)
def context(ctx: typer.Context, asked: Asked, as_json: Json = False) -> None:
    """Print what the documents say about a question as a context for a language model.

    As many passages as fit into the budget, by relevance, without repetitions, each document with one number. What
    comes from documents is fenced and made harmless: it is data, not instructions. Notes go to standard error.

    **Example:** `sourcebook context "How long do the batteries last?" --max-tokens 2000`

    - `sourcebook context "carry over leave" -c handbook --format messages`: the messages of a chat, as JSON

    - `sourcebook context "carry over leave" --json`: with sources, citations, and what was left out
    """
    ContextRequest.of(**asked)  # reports errors before anything is opened
    context = CommandContext.of(ctx, may_be_served=True)
    if context.is_empty(asked["collections"] or ()):
        typer.echo(f"Nothing was ingested into {without_controls(str(context.home))} yet.", err=True)
        raise typer.Exit(1)
    with context.knowledge() as knowledge:
        made = knowledge.context(**asked)
    for note in made.notes:
        typer.echo(f"{without_controls(note[:1].upper() + note[1:])}.", err=True)
    if as_json:
        print_json(made.as_dict())
    elif made.blocks:
        print_json({"blocks" if asked["format"] == "anthropic" else "messages": made.blocks})
    elif made.text:
        typer.echo(made.text)
