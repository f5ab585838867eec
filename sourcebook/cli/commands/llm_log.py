"""`sourcebook llm-log`: the log of language models: its calls, sums of them, and the import of other logs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, as_duration, duration
from sourcebook.cli.output import print_json, say
from sourcebook.cli.tables import Column, Row, show_table
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from sourcebook.answering.log_import import ImportedLog
    from sourcebook.contract.llm_log import CallStatistics, LoggedCall

_CALLS: Final = (
    Column("id", "right"),
    Column("asked"),
    Column("model"),
    Column("tokens", "right", leaves=1),
    Column("cost in $", "right", leaves=2),
    Column("session", leaves=3),
    Column("answer", is_prose=True),
)
_SUMS: Final = (
    Column("model"),
    Column("service"),
    Column("origin", leaves=1),
    Column("calls", "right"),
    Column("failed", "right"),
    Column("tokens read", "right"),
    Column("written", "right"),
    Column("cost in $", "right"),
)
_SHOWN_REJECTIONS: Final = 20
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="DURATION", callback=as_duration, help="Only calls of this last time, such as 7d."),
]


def llm_log(
    ctx: typer.Context,
    collection: Collections = None,
    since: Since = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Only calls of this session.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only calls without an answer.")] = False,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="NUMBER", min=1, help="At most so many calls.")] = 20,
    statistics: Annotated[bool, typer.Option("--statistics", help="Sums by model in place of the calls.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Delete the log, of one collection or of all.")] = False,
    import_file: Annotated[
        Path | None,
        typer.Option(
            "--import",
            metavar="FILE",
            help="Add another log: logs.db of llm, or a program's own (SQLite, CSV, JSON lines); twice is once.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the calls of language models, the newest first; without personal data and secrets.

    A collection keeps a log where its setting `answering.log` is true, for `answering.retention`.

    **Example:** `sourcebook llm-log --statistics --since 7d`

    - `sourcebook llm-log --import ~/.config/io.datasette.llm/logs.db`: rows that cannot be read are listed
    """
    if sum((statistics, forget, import_file is not None)) > 1:
        raise typer.BadParameter("--statistics, --forget and --import exclude each other")
    context = CommandContext.of(ctx, may_be_served=True)
    age = duration(since) if since else None
    names = collection or None
    if import_file is not None:
        context.refuse_server("sourcebook llm-log --import")
        from sourcebook.answering.log_import import import_log

        with context.open_database() as database, database.connection() as connection:
            _show_import(import_log(connection, import_file), as_json=as_json)
        return
    with context.knowledge() as knowledge:
        if forget:
            _show_deleted(knowledge.forget_llm_calls(names), as_json=as_json)
        elif statistics:
            _show_statistics(knowledge.llm_statistics(names, since=age), as_json=as_json)
        else:
            found = knowledge.llm_calls(names, since=age, session=session, failed=failed, limit=limit)
            _show_calls(found, as_json=as_json)


def _show_calls(found: "list[LoggedCall]", *, as_json: bool) -> None:
    if as_json:
        print_json({"calls": [each.as_dict() for each in found]})
    elif found:
        show_table(_CALLS, [_call_row(each) for each in found])
    else:
        say("The log has no such call. A collection keeps a log where its setting answering.log is true.")


def _show_statistics(found: "list[CallStatistics]", *, as_json: bool) -> None:
    if as_json:
        print_json({"models": [each.as_dict() for each in found]})
    elif found:
        show_table(_SUMS, [_sum_row(each) for each in found])
    else:
        say("The log has no such call. A collection keeps a log where its setting answering.log is true.")


def _show_deleted(calls: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"deleted": calls})
    else:
        say(f"Deleted {counted(calls, 'call')} from the log.")


def _show_import(done: "ImportedLog", *, as_json: bool) -> None:
    if as_json:
        print_json(done.as_dict())
        return
    say(f"Imported {counted(done.imported, 'call')}; {done.known:,} were there already.")
    for rejected in done.rejected[:_SHOWN_REJECTIONS]:
        say(f"row {rejected.row}: {rejected.reason}", indent="  ")
    if len(done.rejected) > _SHOWN_REJECTIONS:
        say(f"… and {len(done.rejected) - _SHOWN_REJECTIONS:,} more rejected rows; --json lists them all")


def _call_row(call: "LoggedCall") -> Row:
    tokens = f"{_number(call.prompt_tokens)} + {_number(call.answer_tokens)}"
    asked = f"{call.asked_at.astimezone():%Y-%m-%d %H:%M}"
    said = call.answer if call.ok else f"failed: {call.failure}"
    return Row((str(call.id), asked, call.model, tokens, _dollars(call.cost), call.session, said))


def _sum_row(each: "CallStatistics") -> Row:
    numbers = (f"{each.calls:,}", f"{each.failed:,}", _number(each.prompt_tokens), _number(each.answer_tokens))
    return Row((each.model, each.provider, each.origin, *numbers, _dollars(each.cost)))


def _number(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _dollars(cost: float | None) -> str:
    return "?" if cost is None else f"{cost:.4f}"
