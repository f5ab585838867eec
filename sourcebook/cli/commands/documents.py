"""`sourcebook documents`: the documents of the knowledge base and their states."""

from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json
from sourcebook.cli.output import console, counted, one_line, print_json, safe

if TYPE_CHECKING:
    from sourcebook.admin.items import Item

STYLES = {"failed": "red", "skipped": "yellow", "pending": "yellow", "removed": "dim"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("documents")(documents)


def documents(
    ctx: typer.Context,
    collections: Collections = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only failed and skipped items, with the reason.")] = False,
    removed: Annotated[bool, typer.Option("--removed", help="Removed documents as well.")] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="NUMBER", help="Only the first items; all by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List documents with their state, and files and pages that are no documents.

    The states: *ready* (searchable), *pending* (searchable after the next ingest), *failed* (retried automatically),
    *skipped* (not read on purpose) and *removed*. Every failed or skipped item is listed with its reason.

    **Example:** `sourcebook documents --failed -c handbook`
    """
    context = CommandContext.of(ctx)
    items: list[Item] = []
    if not context.is_empty(collections or ()):
        from sourcebook.admin.items import list_items

        with context.open_database() as database, database.connection() as connection:
            items = list_items(connection, collections or (), failed=failed, removed=removed, limit=limit)
    if as_json:
        print_json({"documents": [item.as_dict() for item in items]})
    elif failed:
        _show_reasons(items)
    else:
        _show(items)


def _show(items: "list[Item]") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("id", "version", "chunks"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("collection", overflow="fold")
    table.add_column("title", overflow="fold", max_width=48)
    table.add_column("uri", overflow="fold", min_width=20)
    for item in items:
        table.add_row(
            "" if item.document_id is None else str(item.document_id),
            str(item.version),
            f"{item.chunks:,}",
            safe(item.state, STYLES.get(item.state, "")),
            safe(item.collection),
            safe(one_line(item.title or "", 200)),
            safe(item.uri),
        )
    if items:
        console().print(table)
    console().print(counted(len(items), "item"))


def _show_reasons(items: "list[Item]") -> None:
    for item in items:
        line = safe(f"{item.state:<8}", STYLES.get(item.state, ""))
        line.append_text(safe(f" {item.collection}  {one_line(item.uri, 2000)}: {one_line(item.error or '', 1000)}"))
        console().print(line, soft_wrap=True)
    if not items:
        console().print("Nothing failed and nothing was skipped.")
