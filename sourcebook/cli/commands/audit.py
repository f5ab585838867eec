"""`sourcebook audit`: who asked what and saw which documents, and who changed what."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, as_duration, as_text, duration
from sourcebook.cli.output import print_json, say
from sourcebook.cli.tables import Column, Row, show_table
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from sourcebook.admin.audit import AuditEvent
    from sourcebook.contract.readings import Reading

_READINGS: Final = (
    Column("id", "right"),
    Column("asked"),
    Column("by", leaves=1),
    Column("for"),
    Column("what"),
    Column("collection", leaves=2),
    Column("documents", is_prose=True),
    Column("question", is_prose=True),
)
_CHANGES: Final = (
    Column("id", "right"),
    Column("changed"),
    Column("by"),
    Column("what"),
    Column("of", is_prose=True),
    Column("details", is_prose=True),
)
_NAMED: Final = 3
"""Documents and principals of a row that are named."""


def audit(
    ctx: typer.Context,
    collection: Collections = None,
    principal: Annotated[
        str | None,
        typer.Option(
            "--principal", metavar="PRINCIPAL", help="Only what was asked for it, or by this key: 'key portal'."
        ),
    ] = None,
    document: Annotated[
        str | None,
        typer.Option(
            "--document", metavar="DOCUMENT", help="Only answers that showed it: its id, or the end of its URI."
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="DURATION", callback=as_duration, help="Only answers of this last time, such as 7d."
        ),
    ] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="NUMBER", min=1, help="At most so many.")] = 50,
    changes: Annotated[
        bool, typer.Option("--changes", help="What was changed and by whom, such as keys and permissions.")
    ] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Delete the audit, of one collection or of all.")] = False,
    as_json: Json = False,
) -> None:
    """List who asked what and which documents the answers showed, the newest first; without personal data of questions.

    A collection keeps an audit where its setting `retention.audit` says for how long; changes are always recorded.

    **Examples:**

    - `sourcebook audit --document hr/pay.md --since 30d`: who has seen it
    - `sourcebook audit --changes`: who changed keys, settings and permissions
    """
    if (forget or changes) and (principal or document or since):
        raise typer.BadParameter("--forget and --changes are of everything: leave out --principal, --document, --since")
    if forget and changes:
        raise typer.BadParameter("--forget deletes readings; changes are kept")
    context = CommandContext.of(ctx, may_be_served=not changes)
    names = collection or []
    if changes:
        _show_changes(_changes(context, limit), as_json=as_json)
        return
    found: list[Reading] = []
    deleted = 0
    if not context.is_empty(names):
        with context.knowledge() as knowledge:
            if forget:
                deleted = knowledge.forget_readings(names or None)
            else:
                found = knowledge.readings(
                    names or None,
                    principal=None if principal is None else as_text(principal),
                    document=None if document is None else as_text(document),
                    since=duration(since) if since else None,
                    limit=limit,
                )
    if forget:
        _show_deleted(deleted, as_json=as_json)
    else:
        _show_readings(found, as_json=as_json)


def _changes(context: CommandContext, limit: int) -> "list[AuditEvent]":
    from sourcebook.admin.audit import audit_events

    context.refuse_server("sourcebook audit --changes")
    with context.open_database() as database, database.connection() as connection:
        return audit_events(connection, limit)


def _show_readings(found: "list[Reading]", *, as_json: bool) -> None:
    if as_json:
        print_json({"readings": [each.as_dict() for each in found]})
    elif found:
        show_table(_READINGS, [_reading_row(each) for each in found])
    else:
        say("The audit has no such answer. A collection keeps one where its setting retention.audit is 365d or so.")


def _show_changes(found: "list[AuditEvent]", *, as_json: bool) -> None:
    if as_json:
        print_json({"changes": [{**each.as_dict(), "happened_at": each.happened_at.isoformat()} for each in found]})
    elif found:
        show_table(_CHANGES, [_change_row(each) for each in found])
    else:
        say("Nothing was changed yet.")


def _show_deleted(readings: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"deleted": readings})
    else:
        say(f"Deleted {counted(readings, 'reading')} from the audit.")


def _reading_row(each: "Reading") -> Row:
    return Row(
        (
            str(each.id),
            f"{each.happened_at.astimezone():%Y-%m-%d %H:%M}",
            each.actor,
            "everything" if each.principals is None else _few(_persons(each.principals)) or "everyone",
            each.operation,
            each.collection,
            _few([uri.rpartition("/")[2] or uri for uri in each.uris]) or "none",
            each.question or "",
        )
    )


def _change_row(each: "AuditEvent") -> Row:
    details = ", ".join(f"{name}: {value}" for name, value in each.details.items())
    return Row(
        (
            str(each.id),
            f"{each.happened_at.astimezone():%Y-%m-%d %H:%M}",
            each.actor,
            each.action,
            each.subject,
            details,
        )
    )


def _persons(principals: list[str]) -> list[str]:
    return [name for name in principals if name != "everyone"]


def _few(names: list[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
