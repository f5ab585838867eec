"""`sourcebook documents`: the documents of the knowledge base and their states."""

from typing import TYPE_CHECKING

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json
from sourcebook.cli.output import one_line, print_json, retry_note, safe, say, wraps
from sourcebook.cli.request_options import Asked, with_options
from sourcebook.cli.tables import Column, Row, show_table
from sourcebook.contract.listing import DocumentsRequest
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
CONDITIONS = (
    "collections",
    "states",
    "kinds",
    "types",
    "tags",
    "text",
    "failed",
    "removed",
    "curated",
    "failure",
    "processing",
)
STYLES = {"failed": "red", "skipped": "yellow", "pending": "yellow", "processing": "cyan", "removed": "dim"}


@with_options(DocumentsRequest)
def documents(ctx: typer.Context, asked: Asked, as_json: Json = False) -> None:
    """List documents with their state, and files and pages that are no documents.

    The states: *ready* (searchable), *processing* (a process works on it), *pending* (searchable after the next
    ingest), *failed* (retried automatically, or parked until something changes), *skipped* (not read on purpose) and
    *removed*. Every failed or skipped item is listed with its reason, every failed one with its class.

    **Example:** `sourcebook documents --failed -c handbook`, `sourcebook documents --failure password`

    - `sourcebook documents --kind page --text leave --limit 20 --offset 20`: the second twenty pages about leave
    """
    context = CommandContext.of(ctx, may_be_served=True)
    DocumentsRequest.of(**asked)
    items: list[Item] = []
    total = 0
    collections, limit, offset = asked["collections"], asked["limit"], asked["offset"]
    if not context.is_empty(collections or ()):
        more = {} if limit is None else {"limit": limit + 1}  # one more tells whether there is a next page
        with context.knowledge() as knowledge:
            items = knowledge.documents(**asked | more)
            if limit is not None and len(items) > limit and not as_json:
                total = knowledge.count_documents(**{name: asked[name] for name in CONDITIONS if name in asked})
    is_last = limit is None or len(items) <= limit
    items = items if is_last else items[:limit]
    if as_json:
        print_json({"documents": [item.as_dict() for item in items]})
        return
    if asked["processing"]:
        _show_processing(items)
    elif asked["failed"] or asked["failure"] is not None:
        _show_reasons(items)
    else:
        _show(items)
    if limit is not None and not is_last and wraps():
        say(safe(f"More: {total:,} in all; the same with --offset {offset + limit}", "dim"))


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
            tuple(note for note in (("reason", _reason(item)), ("left out", item.left_out_words)) if note[1]),
        )
        for item in items
    ]
    if items:
        show_table(COLUMNS, rows, names_below=("reason", "left out"))
    if wraps():
        say(counted(len(items), "item"))


def _reason(item: "Item") -> str:
    """Return the reason why an item is not indexed, with the time of the next attempt; "" for an indexed one."""
    if not item.error:
        return ""
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
        say("No item failed or was skipped. What the texts of documents leave out: sourcebook status")


def note_of(item: "Item") -> str:
    """Return when a failed item is tried again, empty for any other item."""
    return retry_note(
        failed=item.state == "failed", parked=item.parked, attempts=item.attempts, next_retry_at=item.next_retry_at
    )
