"""`sourcebook generations`: the generations of each collection, their activation and their deletion."""

from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.completion import complete_collections
from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text
from sourcebook.cli.output import console, print_json, safe

if TYPE_CHECKING:
    from sourcebook.contract.generations import GenerationState

_ACTIONS = ("activate", "retire")
_MEGABYTE = 1_000_000


def generations(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COLLECTION | activate ID | retire ID]",
            help="A collection, or an action.",
            show_default=False,
            autocompletion=complete_collections,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the generations of each collection, activate one, or delete one.

    A generation is an index by one combination of `chunking` and `embedding`. Where these settings change, `ingest`
    builds another one beside the active one. `activate ID` makes a generation the active one at once, also an earlier
    one; `retire ID` deletes one that is not in use.

    **Example:** `sourcebook generations handbook`

    - `sourcebook generations activate 1`: back to the generation before the last change

    - `sourcebook generations retire 1`: free the space of a generation
    """
    context = CommandContext.of(ctx, may_be_served=True)
    action, number, collection = _parse([as_text(word) for word in words or ()])
    if action:
        context.refuse_server(f"sourcebook generations {action}")
    found: list[GenerationState] = []
    if context.is_empty([collection] if collection else ()):
        if action:
            raise typer.BadParameter("there is no generation yet: run sourcebook ingest")
    elif action:
        found = [_changed(context, action, number)]
    else:
        with context.knowledge() as knowledge:
            found = knowledge.generations(collection)
    if as_json:
        print_json({"generations": [each.as_dict() for each in found]})
    elif action == "activate":
        _tell_active(found[0])
    elif action == "retire":
        console().print(safe(f"Generation {number} of {found[0].collection} is deleted."), soft_wrap=True)
    else:
        _show(found)


def _parse(words: list[str]) -> tuple[str | None, int, str | None]:
    """Return the action and the id, or the collection."""
    if len(words) == 2 and words[0] in _ACTIONS:
        if not (words[1].isascii() and words[1].isdigit()) or len(words[1]) > 18:
            raise typer.BadParameter(f"{words[1]!r} is no id of a generation: sourcebook generations  lists them")
        return words[0], int(words[1]), None
    if len(words) > 1:
        raise typer.BadParameter("name one collection, or: activate ID, retire ID")
    return None, 0, words[0] if words else None


def _changed(context: CommandContext, action: str, number: int) -> "GenerationState":
    from sourcebook.operations.upkeep import activate_generation, retire_generation

    with context.own_knowledge() as knowledge:
        if action == "retire":
            return retire_generation(knowledge, number, waiting=_wait)
        return activate_generation(knowledge, number)


def _wait(reason: str) -> None:
    typer.echo(f"Waiting: {reason}.", err=True)


def _tell_active(state: "GenerationState") -> None:
    documents = f"{state.documents:,} of {state.live_documents:,} documents"
    line = f"Generation {state.id} of {state.collection} is active: {documents} are in it."
    console().print(safe(line), soft_wrap=True)
    if state.progress < 1:
        console().print("Bring it up to date: sourcebook ingest", soft_wrap=True)


def _show(found: "list[GenerationState]") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if not found:
        console().print("There is no generation yet. Build the first one: sourcebook ingest", soft_wrap=True)
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", justify="right")
    table.add_column("collection", overflow="fold")
    table.add_column("state")
    table.add_column("model", overflow="fold")
    for heading in ("tokens", "documents", "passages", "MB"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("begun", no_wrap=True)
    for each in found:
        overlap = f" +{each.chunking['overlap']}" if each.chunking["overlap"] else ""
        table.add_row(
            str(each.id),
            safe(each.collection),
            safe(
                each.state,
                {"active": "green", "building": "yellow", "waiting": "yellow", "blocked": "red"}.get(each.state, "dim"),
            ),
            safe(each.embedding["model"]),
            f"{each.chunking['tokens']}{overlap}",
            f"{each.documents:,}" if each.progress == 1 else f"{each.documents:,} of {each.live_documents:,}",
            f"{each.passages:,}",
            f"{each.bytes / _MEGABYTE:.1f}",
            f"{each.created_at.astimezone():%Y-%m-%d %H:%M}",
        )
    console().print(table)
    for each in found:
        if each.scores:
            scores = ", ".join(f"{measure} {mean:.3f}" for measure, mean in each.scores.items())
            console().print(safe(f"Generation {each.id}: {scores}"), soft_wrap=True)
        if each.state == "blocked":
            console().print(
                safe(f"Generation {each.id} is not activated, for {each.blocked_by}", "red"), soft_wrap=True
            )
        if each.failure:
            console().print(
                safe(f"Generation {each.id} cannot be brought up to date: {each.failure}", "red"), soft_wrap=True
            )
