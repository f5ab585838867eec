"""`sourcebook add`: folders, files and web sites as sources of a collection."""

from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text, collection_option
from sourcebook.cli.output import console, print_json, safe


def add(
    ctx: typer.Context,
    places: Annotated[list[str], typer.Argument(metavar="PATH|URL...", help="Folders, files and web sites.")],
    collection: Annotated[
        str | None,
        collection_option("The collection; by default one named after the folder or host."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Add folders, files and web sites to `sourcebook.yaml`, without reading them.

    The file and the collection are made where they are missing; comments and order stay. A source that
    the collection has already is not added again. `sourcebook ingest` with the same arguments adds and reads.
    With `--server` web sites are added to a collection of the server.

    **Example:** `sourcebook add ./docs https://docs.example.com/ -c handbook`
    """
    from sourcebook.admin.additions import is_place
    from sourcebook.cli.sources import add_places, add_sites, added_line

    context = CommandContext.of(ctx, may_be_served=True)
    # A word alone is a path here: `add` has nothing to do with collections that exist.
    written = [place if is_place(place) else f"./{place}" for place in places]
    name = as_text(collection) if collection is not None else None
    named = add_places(context, written, name) if context.server is None else add_sites(context, written, name)
    if as_json:
        found = [
            {"collection": each.collection, "place": place, "added": each.source is not None}
            for place, each in zip(places, named, strict=True)
        ]
        print_json({"sources": found})
        return
    for place, each in zip(places, named, strict=True):
        known = f"The collection {each.collection} has {place} already"
        console().print(safe(known if each.source is None else added_line(context, each)), soft_wrap=True)
    if context.server is not None:
        console().print("The next ingest of the server reads it.")
        return
    names = " ".join(dict.fromkeys(each.collection for each in named))
    console().print(safe(f"Next: sourcebook ingest {names}"), soft_wrap=True)
