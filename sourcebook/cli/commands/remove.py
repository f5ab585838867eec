"""`sourcebook remove`: removal of a document whose source still has it."""

from dataclasses import asdict
from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text
from sourcebook.cli.output import console, print_json, safe


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("remove")(remove)


def remove(
    ctx: typer.Context,
    uri: Annotated[str, typer.Argument(metavar="URI", help="A document's URI, its id, or the path of its file.")],
    collection: Annotated[
        str | None, typer.Option("-c", "--collection", metavar="NAME", help="Only from this collection.")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Restore it; the next ingest makes it searchable.")] = False,
    as_json: Json = False,
) -> None:
    """Remove a document from the knowledge base although its source still has it.

    It is no longer found, and no ingest brings it back. Its rows are kept until `sourcebook purge`; the file itself is
    never touched.

    **Example:** `sourcebook remove ./docs/old-rules.md`; undone by `sourcebook remove --undo ./docs/old-rules.md`
    """
    from sourcebook.errors import UnknownDocumentError

    context = CommandContext.of(ctx)
    if context.is_empty():
        raise UnknownDocumentError(f"there is no document {uri}: nothing was ingested yet")
    from sourcebook.admin.removal import remove_items, restore_items

    change = restore_items if undo else remove_items
    with context.open_database() as database, database.connection() as connection:
        items = change(connection, uri, as_text(collection) if collection else None)
    if as_json:
        print_json({"restored" if undo else "removed": [asdict(item) for item in items]})
        return
    for item in items:
        what = "let in again to" if undo else "taken out of"
        console().print(safe(f"{item.uri}: {what} {item.collection}"), soft_wrap=True)
    if undo:
        console().print("Next: sourcebook ingest")
    else:
        console().print("Restore it: sourcebook remove --undo. Delete its rows permanently: sourcebook purge")
