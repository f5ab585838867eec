"""`sourcebook documents`: the documents of the knowledge base and their states."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, as_text
from sourcebook.cli.output import one_line, print_json, retry_note, safe, say, wraps
from sourcebook.cli.tables import Column, Row, show_table
from sourcebook.errors import FailureClass
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from sourcebook.contract.documents import Item

COLUMNS = (
    Column("id", "right"),
    Column("state"),
    Column("title", is_prose=True),
    Column("uri", leaves=4),
    Column("passages", "right", leaves=1),
    Column("collection", leaves=2),
    Column("version", "right", leaves=3),
)
STYLES = {"failed": "red", "skipped": "yellow", "pending": "yellow", "processing": "cyan", "removed": "dim"}


State = StrEnum("State", "ready processing pending failed skipped removed")
Kind = StrEnum("Kind", "file page recording source")


def documents(
    ctx: typer.Context,
    collections: Collections = None,
    states: Annotated[
        list[State] | None, typer.Option("--state", help="Only items in this state; may be repeated.")
    ] = None,
    kinds: Annotated[
        list[Kind] | None, typer.Option("--kind", help="Only items of this kind; may be repeated.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only documents of this type, such as adr; may be repeated."),
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="Only items with this in their title or URI.")
    ] = None,
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
        int | None,
        typer.Option("-n", "--limit", min=1, metavar="NUMBER", help="Only the first items; all by default."),
    ] = None,
    offset: Annotated[
        int, typer.Option("--offset", min=0, metavar="NUMBER", help="Number of items before the first one shown.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """List documents with their state, and files and pages that are no documents.

    The states: *ready* (searchable), *processing* (a process works on it), *pending* (searchable after the next
    ingest), *failed* (retried automatically, or parked until something changes), *skipped* (not read on purpose) and
    *removed*. Every failed or skipped item is listed with its reason, every failed one with its class.

    **Example:** `sourcebook documents --failed -c handbook`, `sourcebook documents --failure password`

    - `sourcebook documents --kind page --text leave --limit 20 --offset 20`: the second twenty pages about leave
    """
    context = CommandContext.of(ctx, may_be_served=True)
    items: list[Item] = []
    if not context.is_empty(collections or ()):
        with context.knowledge() as knowledge:
            items = knowledge.documents(
                collections or None,
                failed=failed,
                removed=removed,
                failure=failure,
                processing=processing,
                limit=None if limit is None else limit + 1,  # one more tells whether there is a next page
                offset=offset,
                states=[state.value for state in states or ()],
                kinds=[kind.value for kind in kinds or ()],
                text=as_text(text) if text is not None else None,
                types=[as_text(name) for name in types or ()],
            )
    is_last = limit is None or len(items) <= limit
    items = items if is_last else items[:limit]
    if as_json:
        print_json({"documents": [item.as_dict() for item in items]})
        return
    if processing:
        _show_processing(items)
    elif failed or failure is not None:
        _show_reasons(items)
    else:
        _show(items)
    if limit is not None and not is_last and wraps():
        say(safe(f"More: the same with --offset {offset + limit}", "dim"))


def _show(items: "list[Item]") -> None:
    rows = [
        Row(
            (
                "" if item.document_id is None else str(item.document_id),
                f"{item.state}: {item.failure_class}" if item.failure_class else item.state,
                item.title or "",
                item.uri,
                f"{item.chunks:,}",
                item.collection if item.taken_from is None else f"{item.collection} (from {item.taken_from})",
                str(item.version),
            ),
            {1: STYLES.get(item.state, "")},
            (("reason", _reason(item)),) if item.error else (),
        )
        for item in items
    ]
    if items:
        show_table(COLUMNS, rows, names_below=("reason",))
    if wraps():
        say(counted(len(items), "item"))


def _reason(item: "Item") -> str:
    """Return the reason why an item is not indexed, with the time of the next attempt."""
    note = note_of(item)
    reason = f"not indexed because {item.error}"
    return f"{reason} ({note})" if note else reason


def _show_processing(items: "list[Item]") -> None:
    for item in items:
        since = f"{item.processing_since.astimezone():%H:%M:%S}" if item.processing_since else ""
        line = f"{item.collection}  {one_line(item.uri, 2000)}: since {since} by {item.processing_by}"
        say(safe(line))
    if not items:
        say("No process works on any item.")


def _show_reasons(items: "list[Item]") -> None:
    for item in items:
        line = safe(f"{item.state:<8}", STYLES.get(item.state, ""))
        kind = f" ({item.failure_class})" if item.failure_class else ""
        reason = one_line(item.error or "", 1000)
        line.append_text(safe(f" {item.collection}  {one_line(item.uri, 2000)}{kind}: {reason}"))
        if note := note_of(item):
            line.append_text(safe(f" ({note})", "dim"))
        say(line, hanging=" " * 9)
    if not items:
        say("Nothing failed and nothing was skipped.")


def note_of(item: "Item") -> str:
    """Return when a failed item is tried again, empty for any other item."""
    return retry_note(
        failed=item.state == "failed", parked=item.parked, attempts=item.attempts, next_retry_at=item.next_retry_at
    )
