"""`sourcebook upload` and `sourcebook uploads`: files that a collection gets a copy of."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, as_text, collection_option
from sourcebook.cli.output import print_json, safe, say
from sourcebook.cli.tables import Column, Row, show_table
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from sourcebook.contract.uploads import Upload

COLUMNS: Final = (
    Column("collection", leaves=2),
    Column("name", is_prose=True),
    Column("version", "right"),
    Column("bytes", "right"),
    Column("tags", is_prose=True, leaves=1),
    Column("by", leaves=3),
    Column("uploaded", leaves=4),
)
_PAGE: Final = 1_000


def upload(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files; - for standard input.")],
    collection: Annotated[str, collection_option("The collection.")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Another name than the file's, for one file.")
    ] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="A tag of the documents; may be repeated."),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Title of the document, for one file.")
    ] = None,
    allowed: Annotated[
        list[str] | None,
        typer.Option("--allowed", metavar="PRINCIPAL", help="Who sees the documents; may be repeated."),
    ] = None,
    denied: Annotated[
        list[str] | None,
        typer.Option("--denied", metavar="PRINCIPAL", help="Beside --allowed, who does not; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Store copies of files in the knowledge base, and ask for documents to be made of them.

    Each has a name; other bytes under the same name are its next version, the same ones change nothing. Without
    `--tag` the tags of the version before stay, without `--allowed` those who see it. The files themselves may go: the
    copies are in the store of uploads.

    **Example:** `sourcebook upload report.pdf -c handbook --tag finance`, then `sourcebook ingest handbook`
    """
    if name is not None and len(files) > 1:
        raise typer.BadParameter("--name belongs to one file")
    if title is not None and len(files) > 1:
        raise typer.BadParameter("--title belongs to one file")
    if name is None and any(str(file) == "-" for file in files):
        raise typer.BadParameter("standard input needs a name: add --name")
    missing = [file for file in files if str(file) != "-" and not file.is_file()]
    if missing:
        raise typer.BadParameter(f"{as_text(str(missing[0]))} is no file")
    context = CommandContext.of(ctx, may_be_served=True)
    into = as_text(collection)
    context.is_empty([into])  # raises an error where there is no database yet

    done: list[Upload] = []
    titled = None if title is None else as_text(title)
    seen = _readers(allowed, denied)
    with context.knowledge() as knowledge:
        for file in files:
            called = as_text(name if name is not None else file.name)
            given = tuple(as_text(tag) for tag in tags or ())
            if str(file) == "-":
                done.append(knowledge.upload(into, called, sys.stdin.buffer, tags=given, title=titled, **seen))
            else:
                with file.open("rb") as opened:
                    done.append(knowledge.upload(into, called, opened, tags=given, title=titled, **seen))
        changed = [each.uri for each in done if each.changed]
        work = knowledge.request_work(into, documents=changed, kinds=["uploads"]) if changed else None
    if as_json:
        print_json({"uploads": [each.as_dict() for each in done], "work": work.as_dict() if work else None})
        return
    for each in done:
        said = f"version {each.version}" if each.changed else f"version {each.version} has these bytes already"
        say(safe(f"{each.uri}: {said}"))
    if work is not None:
        say(safe(f"Request {work.id} waits for an ingest. Next: sourcebook ingest {into}"))


def uploads(
    ctx: typer.Context,
    collections: Collections = None,
    remove: Annotated[
        list[str] | None,
        typer.Option("--remove", metavar="NAME", help="Remove this upload; may be repeated. Needs one -c."),
    ] = None,
    permit: Annotated[
        list[str] | None,
        typer.Option("--permit", metavar="NAME", help="Let others see this upload; may be repeated. Needs one -c."),
    ] = None,
    allowed: Annotated[
        list[str] | None,
        typer.Option(
            "--allowed",
            metavar="PRINCIPAL",
            help="With --permit, who sees it; may be repeated. Without any, those whom the collection names.",
        ),
    ] = None,
    denied: Annotated[
        list[str] | None,
        typer.Option("--denied", metavar="PRINCIPAL", help="Beside --allowed, who does not; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the uploads of collections, remove some, or change who sees them.

    The document of a removed upload is gone with the next ingest. Its bytes are deleted once nothing needs them and
    `sourcebook purge`, or the collection's `retention`, has deleted its row.

    **Example:** `sourcebook uploads -c handbook`; `sourcebook uploads -c handbook --remove report.pdf`
    """
    if (remove or permit) and len(collections or ()) != 1:
        raise typer.BadParameter("--remove and --permit need one collection: add -c NAME")
    if (allowed or denied) and not permit:
        raise typer.BadParameter("--allowed and --denied say who sees the uploads of --permit NAME")
    context = CommandContext.of(ctx, may_be_served=True)
    if context.is_empty(collections or ()):
        _show([], as_json=as_json)
        return

    with context.knowledge() as knowledge:
        if remove and collections:
            (named,) = collections
            removed = [knowledge.remove_upload(named, as_text(each)) for each in dict.fromkeys(remove)]
            work = knowledge.request_work(named, documents=[each.uri for each in removed], kinds=["uploads"])
            if as_json:
                print_json({"removed": [each.as_dict() for each in removed], "work": work.as_dict()})
                return
            for each in removed:
                say(safe(f"{each.uri}: removed"))
            say(safe(f"Request {work.id} waits for an ingest. Next: sourcebook ingest {named}"))
            return
        if permit and collections:
            given = _readers(allowed, denied)
            done = [knowledge.permit_upload(collections[0], as_text(each), **given) for each in dict.fromkeys(permit)]
            if as_json:
                print_json({"permitted": [each.as_dict() for each in done]})
            seen, unseen = ", ".join(given["allowed"] or ()), ", ".join(given["denied"])
            said = f"{seen or 'those whom the collection names'}{f'; not by {unseen}' if unseen else ''}"
            for each in () if as_json else done:
                say(safe(f"{each.uri}: seen by {said}"))
            return
        found = knowledge.uploads(collections or None, limit=_PAGE)
        page = found
        while len(page) == _PAGE:
            page = knowledge.uploads(collections or None, limit=_PAGE, after=(page[-1].collection, page[-1].name))
            found += page
    _show(found, as_json=as_json)


def _readers(allowed: list[str] | None, denied: list[str] | None) -> dict[str, Any]:
    """Return who sees an upload, as operations take it."""
    return {
        "allowed": [as_text(each) for each in allowed or ()] or None,
        "denied": [as_text(each) for each in denied or ()],
    }


def _show(found: "list[Upload]", *, as_json: bool) -> None:
    if as_json:
        print_json({"uploads": [each.as_dict() for each in found]})
    elif found:
        show_table(COLUMNS, [_row(each) for each in found])
        say(f"{counted(len(found), 'upload')}, {sum(each.bytes for each in found):,} bytes")
    else:
        say("There are no uploads. Send one: sourcebook upload FILE -c NAME")


def _row(upload: "Upload") -> Row:
    return Row(
        (
            upload.collection,
            upload.name,
            str(upload.version),
            f"{upload.bytes:,}",
            ", ".join(upload.tags),
            upload.uploaded_by,
            f"{upload.uploaded_at.astimezone():%Y-%m-%d %H:%M}",
        )
    )
