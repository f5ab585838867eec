"""`sourcebook remove`: take a document out although its file still lies in its source."""

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
        str | None, typer.Option("-c", "--collection", metavar="NAME", help="Only out of this collection.")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Let it in again; the next ingest makes it searchable.")] = False,
    as_json: Json = False,
) -> None:
    """Take a document out of the knowledge base although its file still lies in its source.

    It is not found from that moment on, and no ingest brings it back. Its rows are kept until `sourcebook purge`; the
    file itself is never touched.

    **Example:** `sourcebook remove ./docs/old-rules.md`, and back again: `sourcebook remove --undo ./docs/old-rules.md`
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
        console().print("It comes back with: sourcebook remove --undo. Delete its rows for good: sourcebook purge")
