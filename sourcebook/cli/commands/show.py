"""`sourcebook show`: one document with its text and passages."""

from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.commands.documents import note_of
from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Document, Json, Unredacted, as_text, collection_option
from sourcebook.cli.output import console, one_line, print_json, safe, without_controls
from sourcebook.model.counted import counted
from sourcebook.model.time_span import time_span

if TYPE_CHECKING:
    from psycopg import Connection

    from sourcebook.contract.documents import Document as DocumentDetails
    from sourcebook.contract.documents import Item
    from sourcebook.model.transcript import Segment


def show(
    ctx: typer.Context,
    document: Document,
    collection: Annotated[
        str | None,
        collection_option("The collection, where several have the document."),
    ] = None,
    as_srt: Annotated[bool, typer.Option("--srt", help="Print a recording's transcript as SubRip subtitles.")] = False,
    as_vtt: Annotated[bool, typer.Option("--vtt", help="Print a recording's transcript as WebVTT.")] = False,
    unredacted: Unredacted = False,
    as_json: Json = False,
) -> None:
    """Show one document: its state, its text as Markdown, and its passages.

    **Example:** `sourcebook show ./docs/batteries.md`
    """
    from sourcebook.errors import UnknownDocumentError

    if as_srt + as_vtt + as_json > 1:
        raise typer.BadParameter("--srt, --vtt and --json exclude each other: give one of them")
    context = CommandContext.of(ctx)
    if context.is_empty():
        raise UnknownDocumentError(f"there is no document {document}: nothing was ingested yet")
    from sourcebook.admin.items import find_document
    from sourcebook.admin.redacted_documents import redact_segments

    with context.open_database() as database, database.connection() as connection:
        name = as_text(collection) if collection else None
        found = find_document(connection, document, name, unredacted=unredacted)
        segments = _transcript(connection, found.item) if as_srt or as_vtt else ()
        if segments and not unredacted:
            segments = redact_segments(connection, found.item.collection, segments)
    if as_srt or as_vtt:
        from sourcebook.speech.subtitles import srt, vtt

        typer.echo(without_controls(srt(segments) if as_srt else vtt(segments)), nl=False)
    elif as_json:
        print_json(found.as_dict())
    else:
        _show(found)


def _transcript(connection: "Connection", item: "Item") -> "tuple[Segment, ...]":
    from sourcebook.errors import QueryError
    from sourcebook.stages.transcripts.rows import transcript_of

    segments = transcript_of(connection, item.document_id) if item.document_id is not None else None
    if segments is not None:
        return segments
    if item.kind != "recording":
        raise QueryError(f"{item.uri} is not a recording: only recordings have subtitles")
    raise QueryError(f"{item.uri} has no transcript: {item.error or 'run  sourcebook ingest  to bring it up to date'}")


def _show(found: "DocumentDetails") -> None:
    out, item = console(), found.item
    out.print(safe(one_line(item.title or item.uri, 500), "bold"), soft_wrap=True)
    facts = {
        "document": str(item.document_id),
        "collection": item.collection,
        "taken from": item.taken_from or "",
        "uri": item.uri,
        "link": item.link or "",
        "state": item.state if item.error is None else f"{item.state}: {one_line(item.error, 1000)}",
        "failure": item.failure_class or "",
        "retry": note_of(item),
        "removed": f"{item.removed_at.astimezone():%Y-%m-%d %H:%M}" if item.removed_at else "",
        "processing": item.processing_by or "",
        "type": item.media_type or "",
        "language": item.language or "not known",
        "version": str(item.version),
        "tags": ", ".join(found.tags),
        "by hand": ", ".join([*found.given_tags, *found.given_metadata]),
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
        span = time_span(passage.start_seconds, passage.end_seconds)
        time = f", {span}" if span is not None else ""
        path = f", {one_line(' › '.join(passage.heading_path), 300)}" if passage.heading_path else ""
        place = f"characters {passage.start_char:,} to {passage.end_char:,}"
        line = f"passage {passage.ordinal}: {counted(passage.token_count, 'token')}, {place}{page}{time}{path}"
        out.print(safe(line, "dim"), soft_wrap=True)
