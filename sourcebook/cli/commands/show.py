"""`sourcebook show`: one document with its text and passages."""

from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.commands.documents import note_of
from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Document, Json, Unredacted, as_text, collection_option
from sourcebook.cli.output import console, one_line, print_json, safe, without_controls
from sourcebook.model.counted import counted
from sourcebook.model.page_labels import page_words
from sourcebook.model.place import line_words, time_span

if TYPE_CHECKING:
    from sourcebook.contract.documents import Document as DocumentDetails
    from sourcebook.contract.documents import Item


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
    if as_srt + as_vtt + as_json > 1:
        raise typer.BadParameter("--srt, --vtt and --json exclude each other: give one of them")
    context = CommandContext.of(ctx, may_be_served=True)
    name = as_text(collection) if collection else None
    if as_srt or as_vtt:
        context.refuse_server(f"--{'srt' if as_srt else 'vtt'}")
        from sourcebook.operations.document_files import transcript
        from sourcebook.speech.subtitles import srt, vtt

        with context.own_knowledge(document) as own:
            segments = transcript(own, document, name, unredacted=unredacted)
        typer.echo(without_controls(srt(segments) if as_srt else vtt(segments)), nl=False)
        return
    with context.knowledge(document) as knowledge:
        found = knowledge.show(document, name, unredacted=unredacted)
    if as_json:
        print_json(found.as_dict())
    else:
        _show(found)


def _standing(item: "Item") -> str:
    """Return how a document was made to stand in searches by hand; nothing where it was not."""
    stands = "hidden" if item.boost == 0 else f"boosted by {item.boost:g}" if item.boost != 1 else ""
    return stands and f"{stands} by {one_line(item.curated_by or '', 200)}: {one_line(item.curated_because or '', 500)}"


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
        "search": _standing(item),
        "processing": item.processing_by or "",
        "type": item.media_type or "",
        "language": item.language or "not known",
        "version": str(item.version),
        "tags": ", ".join(found.tags),
        "by hand": ", ".join([*found.given_tags, *found.given_metadata]),
        "passages": counted(item.chunks, "passage"),
        "left out": item.left_out_words,
    }
    for name, value in facts.items():
        if value:
            out.print(safe(f"{name:<12}{value}", "dim"), soft_wrap=True)
    if found.text:
        out.print()
        out.print(safe(found.text), soft_wrap=True)
    for passage in found.passages:
        page = f", {page_words(passage.page, found.metadata)}" if passage.page is not None else ""
        span = time_span(passage.start_seconds, passage.end_seconds)
        time = f", {span}" if span is not None else ""
        lines = f", {words}" if (words := line_words(passage.anchor)) else ""
        path = f", {one_line(' › '.join(passage.heading_path), 300)}" if passage.heading_path else ""
        place = f"characters {passage.start_char:,} to {passage.end_char:,}"
        line = f"passage {passage.ordinal}: {counted(passage.token_count, 'token')}, {place}{lines}{page}{time}{path}"
        out.print(safe(line, "dim"), soft_wrap=True)
