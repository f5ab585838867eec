"""`sourcebook documents`: the documents of the knowledge base and their states."""

from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json
from sourcebook.cli.output import console, counted, one_line, print_json, retry_note, safe
from sourcebook.errors import FailureClass

if TYPE_CHECKING:
    from sourcebook.admin.items import Item

STYLES = {"failed": "red", "skipped": "yellow", "pending": "yellow", "processing": "cyan", "removed": "dim"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("documents")(documents)


def documents(
    ctx: typer.Context,
    collections: Collections = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only failed and skipped items, with the reason.")] = False,
    removed: Annotated[bool, typer.Option("--removed", help="Removed documents as well.")] = False,
    failure: Annotated[
        FailureClass | None,
        typer.Option("--failure", help="Only items that failed in this way.", show_choices=True),
    ] = None,
    processing: Annotated[
        bool, typer.Option("--processing", help="Only items that a process works on now, with the process.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="NUMBER", help="Only the first items; all by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List documents with their state, and files and pages that are no documents.

    The states: *ready* (searchable), *processing* (a process works on it), *pending* (searchable after the next
    ingest), *failed* (retried automatically, or parked until something changes), *skipped* (not read on purpose) and
    *removed*. Every failed or skipped item is listed with its reason, every failed one with its class.

    **Example:** `sourcebook documents --failed -c handbook`, `sourcebook documents --failure password`
    """
    context = CommandContext.of(ctx)
    items: list[Item] = []
    if not context.is_empty(collections or ()):
        from sourcebook.admin.items import list_items

        with context.open_database() as database, database.connection() as connection:
            items = list_items(
                connection,
                collections or (),
                failed=failed,
                removed=removed,
                limit=limit,
                failure_class=failure,
                processing=processing,
            )
    if as_json:
        print_json({"documents": [item.as_dict() for item in items]})
    elif processing:
        _show_processing(items)
    elif failed or failure is not None:
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
            safe(
                f"{item.state}: {item.failure_class}" if item.failure_class else item.state, STYLES.get(item.state, "")
            ),
            safe(item.collection if item.taken_from is None else f"{item.collection} (from {item.taken_from})"),
            safe(one_line(item.title or "", 200)),
            safe(item.uri),
        )
    if items:
        console().print(table)
    console().print(counted(len(items), "item"))


def _show_processing(items: "list[Item]") -> None:
    for item in items:
        since = f"{item.processing_since.astimezone():%H:%M:%S}" if item.processing_since else ""
        line = f"{item.collection}  {one_line(item.uri, 2000)}: since {since} by {item.processing_by}"
        console().print(safe(line), soft_wrap=True)
    if not items:
        console().print("No process works on any item.")


def _show_reasons(items: "list[Item]") -> None:
    for item in items:
        line = safe(f"{item.state:<8}", STYLES.get(item.state, ""))
        kind = f" ({item.failure_class})" if item.failure_class else ""
        reason = one_line(item.error or "", 1000)
        line.append_text(safe(f" {item.collection}  {one_line(item.uri, 2000)}{kind}: {reason}"))
        if note := note_of(item):
            line.append_text(safe(f" ({note})", "dim"))
        console().print(line, soft_wrap=True)
    if not items:
        console().print("Nothing failed and nothing was skipped.")


def note_of(item: "Item") -> str:
    """Return when a failed item is tried again, empty for any other item."""
    return retry_note(
        failed=item.state == "failed", parked=item.parked, attempts=item.attempts, next_retry_at=item.next_retry_at
    )
