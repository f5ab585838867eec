"""`sourcebook remove`: removal of a document whose source still has it."""

from dataclasses import asdict
from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text, collection_option
from sourcebook.cli.output import console, print_json, safe


def remove(
    ctx: typer.Context,
    uris: Annotated[
        list[str],
        typer.Argument(metavar="URI...", help="Documents by URI, by id, by the path of their file, or by its end."),
    ],
    collection: Annotated[str | None, collection_option("Only from this collection.")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Restore it; the next ingest makes it searchable.")] = False,
    as_json: Json = False,
) -> None:
    """Remove documents from the knowledge base although their source still has them.

    All of them are removed or, where one is not known, none. They are no longer found, and no ingest brings them back.
    Their rows are kept, with the time of the removal, until `sourcebook purge` or the collection's `retention`; the
    files themselves are never touched.

    **Example:** `sourcebook remove ./docs/old-rules.md`; undone by `sourcebook remove --undo ./docs/old-rules.md`
    """
    name = as_text(collection) if collection else None
    with CommandContext.of(ctx, may_be_served=True).knowledge(uris[0]) as knowledge:
        items = (knowledge.restore_document if undo else knowledge.remove_document)(uris, name)
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
