"""`sourcebook permissions`: who may see which documents, and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, as_text
from sourcebook.cli.output import one_line, print_json, safe, say
from sourcebook.cli.tables import Column, Row, show_table

if TYPE_CHECKING:
    from sourcebook.contract.permissions import Permission, PermissionAnswer, PermissionReason

_COLUMNS = (
    Column("allowed", is_prose=True),
    Column("denied", is_prose=True),
    Column("documents", is_prose=True),
)
_SEEN = Column("seen")
_WIDEST = 2_000
"""Characters of a line, at most."""


def permissions(
    ctx: typer.Context,
    document: Annotated[
        str | None,
        typer.Argument(metavar="[DOCUMENT]", help="A document's id, its URI, the path of its file, or the end of one."),
    ] = None,
    principals: Annotated[
        list[str] | None,
        typer.Option(
            "--as", metavar="PRINCIPAL", help="Whether this caller may see them; repeated, who is all of these."
        ),
    ] = None,
    collection: Collections = None,
    as_json: Json = False,
) -> None:
    """Show which principals may see how many documents; or who may see one document, and why.

    Principals are `user:anna@example.org`, `group:board`, and `everyone`.

    **Examples:**

    - `sourcebook permissions`: who sees how many documents of each collection
    - `sourcebook permissions hr/pay.md --as user:anna@example.org`: whether Anna sees it, and through which group
    """
    context = CommandContext.of(ctx, may_be_served=True)
    names = collection or []
    found: list[Permission] = []
    if document is not None or not context.is_empty(names):
        with context.knowledge(document) as knowledge:
            found = knowledge.permissions(
                None if document is None else as_text(document),
                principals=[as_text(each) for each in principals or ()],
                collections=names or None,
            )
    if as_json:
        print_json({"permissions": [each.as_dict() for each in found]})
    elif document is not None:
        for each in found:
            _show(each)
    elif found:
        show_table((*([_SEEN] if found[0].answer else ()), *_COLUMNS), [_row(each) for each in found])
    else:
        say("There are no documents.")


def _row(each: "Permission") -> Row:
    documents = ", ".join(f"{name} {number:,}" for name, number in each.documents.items())
    answer = () if each.answer is None else ("yes" if each.answer.is_seen else "no",)
    return Row((*answer, ", ".join(each.allowed) or "nobody", ", ".join(each.denied), documents))


def _show(each: "Permission") -> None:
    place = each.reasons[0]
    say(safe(one_line(f"{each.document_id} {place.uri} ({place.collection})", _WIDEST), "bold"))
    say(safe(one_line(f"allowed: {', '.join(each.allowed) or 'nobody'}", _WIDEST)), indent="  ")
    if each.denied:
        say(safe(one_line(f"denied: {', '.join(each.denied)}", _WIDEST)), indent="  ")
    for reason in each.reasons:
        say(safe(one_line(f"because {_because(reason)}", _WIDEST)), indent="  ", hanging="    ")
    if each.answer is not None:
        say(safe(one_line(_answer(each.answer), _WIDEST), "cyan"), indent="  ", hanging="    ")


def _because(reason: "PermissionReason") -> str:
    """Return a reason in words."""
    source = f"the source {reason.source} of {reason.collection}"
    fits = f"the pattern {reason.pattern} of" if reason.pattern else "the setting allowed of"
    said = {
        "unset": f"{source} says nothing: everyone sees its documents",
        "rule": f"{fits} {source} says so",
        "unmatched": f"no pattern of {source} fits: nobody sees it",
        "document": "its front matter or metadata says so",
        "invalid": "allowed in its front matter or metadata is no list of principals: nobody sees it",
        "record": f"the record's field says so, as {source} sets it",
        "upload": "who uploaded it named them",
        "file": "owner, group, mode and ACL of the file and of the folders above it say so",
        "acl": f"the ACL of the object says so, as {source} sets it",
        "unread": "the permissions of the file or object have not been read yet, or cannot be: nobody sees it",
        "original": f"it is a copy of the document of {reason.source}",
    }[reason.kind]
    return said if reason.container is None else f"{said}; it is part of {reason.container}, which decides"


def _answer(answer: "PermissionAnswer") -> str:
    """Return in words whether a caller sees a document, and through what."""
    if not answer.path:
        return "Not seen: nobody of these is allowed."
    given, *groups = answer.path
    verdict = "Seen: allowed" if answer.is_seen else "Not seen: denied"
    way = f"; {given} belongs to {', that to '.join(groups)}" if groups else ""
    return f"{verdict} to {answer.path[-1]}{way}."
