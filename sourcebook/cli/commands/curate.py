"""`sourcebook curate`: a document that no search finds, or whose passages stand nearer the first place."""

from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Document, Json, as_text, collection_option
from sourcebook.cli.output import console, one_line, print_json, safe


def curate(
    ctx: typer.Context,
    document: Document,
    hide: Annotated[bool, typer.Option("--hide", help="Hide it from search; it is kept, and listed.")] = False,
    boost: Annotated[
        float | None,
        typer.Option("--boost", metavar="FACTOR", help="Divide the places of its passages by this, from 0.25 to 4."),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take back what was done by hand.")] = False,
    because: Annotated[
        str | None, typer.Option("--because", metavar="TEXT", help="Why; needed but with --undo.")
    ] = None,
    collection: Annotated[str | None, collection_option("The collection, where several have the document.")] = None,
    as_json: Json = False,
) -> None:
    """Hide a document from search, or boost it; without options, show how it stands.

    **Example:** `sourcebook curate old-leaflet.pdf --hide --because "withdrawn in May"`

    - `sourcebook curate handbook.md --boost 2 --because "the one to read first"`

    - `sourcebook curate handbook.md --undo`
    """
    if hide + (boost is not None) + undo > 1:
        raise typer.BadParameter("one of --hide, --boost and --undo")
    name = as_text(collection) if collection else None
    factor = 0.0 if hide else 1.0 if undo else boost
    with CommandContext.of(ctx, may_be_served=True).knowledge(document) as knowledge:
        if factor is None:
            item = knowledge.show(document, name).item
        else:
            reason = None if because is None else as_text(because)
            item = knowledge.curate_document(document, name, boost=factor, reason=reason).item
    if as_json:
        held = {name: value for name, value in item.as_dict().items() if name.startswith(("boost", "curated"))}
        print_json({"document_id": item.document_id, "uri": item.uri, **held})
        return
    stands = {0.0: "hidden from search", 1.0: "as it is found"}.get(item.boost, f"boosted by {item.boost:g}")
    out = console()
    out.print(safe(one_line(item.title or item.uri, 500), "bold"), soft_wrap=True)
    out.print(safe(f"in searches  {stands}"), soft_wrap=True)
    if item.curated_at is not None:
        by = f"{item.curated_at.astimezone():%Y-%m-%d %H:%M} by {one_line(item.curated_by or '', 200)}"
        out.print(safe(f"since        {by}: {one_line(item.curated_because or '', 500)}"), soft_wrap=True)
