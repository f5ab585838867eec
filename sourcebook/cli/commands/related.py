"""`sourcebook related`: what a document is related to."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Document, Json, as_text, collection_option
from sourcebook.cli.output import print_json, say, wraps
from sourcebook.cli.tables import Column, Row, show_table
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from sourcebook.contract.relations import RelatedDocument

_COLUMNS = (
    Column("relation"),
    Column("id", "right"),
    Column("title", is_prose=True),
    Column("uri", leaves=2),
    Column("written", leaves=1),
)
_INWARDS = {
    "references": "referenced by",
    "requires": "required by",
    "implements": "implemented by",
    "supersedes": "superseded by",
    "creates": "created by",
    "part_of": "has part",
}


Kind = StrEnum("Kind", "references requires implements supersedes creates part_of")
Way = StrEnum("Way", "both out in")


def related(
    ctx: typer.Context,
    document: Document,
    collection: Annotated[str | None, collection_option("Collection of the document, where several have it.")] = None,
    kinds: Annotated[
        list[Kind] | None, typer.Option("--kind", help="Only relations of this kind; may be repeated.")
    ] = None,
    direction: Annotated[
        Way,
        typer.Option("--direction", help="What the document says of others, what others say of it, or both."),
    ] = Way.both,
    dangling: Annotated[bool, typer.Option("--dangling", help="Relations, too, whose document is not there.")] = False,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="NUMBER", help="Maximum number of relations.")] = 100,
    as_json: Json = False,
) -> None:
    """List the documents that a document refers to, requires, supersedes, is part of, and those that do so with it.

    Relations are read from metadata such as `requires:`, from links, and from ids such as ADR-0004 in the text.

    **Example:** `sourcebook related 0004-use-postgres.md --kind supersedes`
    """
    with CommandContext.of(ctx, may_be_served=True).knowledge(document) as knowledge:
        found = knowledge.related(
            document,
            as_text(collection) if collection else None,
            kinds=[kind.value for kind in kinds or ()],
            direction=direction.value,  # type: ignore[arg-type] # it is one of them
            dangling=dangling,
            limit=limit,
        )
    if as_json:
        print_json({"related": [each.as_dict() for each in found]})
        return
    if found:
        show_table(_COLUMNS, [_row(each) for each in found])
    if wraps():
        say(counted(len(found), "relation"))


def _row(each: "RelatedDocument") -> Row:
    name = each.kind.replace("_", " ") if each.direction == "out" else _INWARDS[each.kind]
    number = "" if each.document_id is None else str(each.document_id)
    return Row((name, number, each.title or "", each.uri or "not here", each.written))
