"""`sourcebook import`: collections from files."""

from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json
from sourcebook.cli.output import console, print_json, safe, say, say_waiting
from sourcebook.model.counted import counted


def import_(
    ctx: typer.Context,
    folder: Annotated[
        str,
        typer.Argument(metavar="DIR", help="A folder that `sourcebook export` wrote, or its URL as s3://bucket/name."),
    ],
    as_json: Json = False,
) -> None:
    """Take in collections that `sourcebook export` wrote: searchable at once, nothing is parsed or embedded.

    Every file is compared with its SHA-256 before a row is written. All collections appear at one moment; an import
    that is killed leaves nothing. A collection that exists is never replaced. The next `sourcebook ingest` with the
    same configuration goes on from there: it takes in what has changed in the sources since the export.

    **Example:** `sourcebook import ./handbook-2026`, then `sourcebook ingest`
    """
    from sourcebook.cli.progress_bar import passage_bar
    from sourcebook.transfer.importing import import_collections

    context = CommandContext.of(ctx)
    with context.open_database() as database, passage_bar("importing", quiet=as_json) as progress:
        imported = import_collections(database, folder, progress=progress, waiting=say_waiting)
    if as_json:
        print_json(imported.as_dict())
        return
    console().print(
        safe(
            f"{', '.join(imported.collections) or 'no collection'}: {counted(imported.documents, 'document')}, "
            f"{counted(imported.passages, 'passage')}"
        ),
        soft_wrap=True,
    )
    if imported.groups:
        say(f"Groups came along: {', '.join(imported.groups)}. A sourcebook.yaml decides on its own: name them there.")
    if imported.known_groups:
        say(f"Groups have the members that they had here: {', '.join(imported.known_groups)}.")
