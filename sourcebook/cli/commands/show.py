"""`sourcebook show`: one document, as the knowledge base read it."""

from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Document, Json, as_text
from sourcebook.cli.output import console, counted, one_line, print_json, safe

if TYPE_CHECKING:
    from sourcebook.inspection import Document as DocumentDetails


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("show")(show)


def show(
    ctx: typer.Context,
    document: Document,
    collection: Annotated[
        str | None,
        typer.Option("-c", "--collection", metavar="NAME", help="The collection, where several hold the document."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show one document: its state, its text as Markdown, and the passages it was cut into.

    **Example:** `sourcebook show ./docs/batteries.md`
    """
    from sourcebook.errors import UnknownDocumentError

    context = CommandContext.of(ctx)
    if context.is_empty():
        raise UnknownDocumentError(f"there is no document {document}: nothing was ingested yet")
    from sourcebook.inspection import find_document

    with context.open_database() as database, database.connection() as connection:
        found = find_document(connection, document, as_text(collection) if collection else None)
    if as_json:
        print_json(found.as_dict())
    else:
        _show(found)


def _show(found: "DocumentDetails") -> None:
    out, item = console(), found.item
    out.print(safe(one_line(item.title or item.uri, 500), "bold"), soft_wrap=True)
    facts = {
        "document": str(item.document_id),
        "collection": item.collection,
        "uri": item.uri,
        "state": item.state if item.error is None else f"{item.state}: {one_line(item.error, 1000)}",
        "type": item.media_type or "",
        "language": item.language or "not known",
        "version": str(item.version),
        "tags": ", ".join(found.tags),
        "passages": counted(item.chunks, "passage"),
    }
    for name, value in facts.items():
        if value:
            out.print(safe(f"{name:<12}{value}", "dim"), soft_wrap=True)
    if found.text:
        out.print()
        out.print(safe(found.text), soft_wrap=True)
    for passage in found.passages:
        page = f", page {passage.page}" if passage.page is not None else ""
        path = f", {one_line(' › '.join(passage.heading_path), 300)}" if passage.heading_path else ""
        place = f"characters {passage.start_char:,} to {passage.end_char:,}"
        line = f"passage {passage.ordinal}: {counted(passage.token_count, 'token')}, {place}{page}{path}"
        out.print(safe(line, "dim"), soft_wrap=True)
