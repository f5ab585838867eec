"""`sourcebook queries`: what was asked, and what found nothing, from the query log."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, as_duration, duration
from sourcebook.cli.output import print_json, say
from sourcebook.cli.tables import Column, Row, show_table
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from sourcebook.contract.query_log import LoggedQuery

COLUMNS: Final = (
    Column("searches", "right"),
    Column("found nothing", "right", leaves=1),
    Column("last", leaves=2),
    Column("collection", leaves=3),
    Column("query", is_prose=True),
)


def queries(
    ctx: typer.Context,
    collection: Collections = None,
    without_results: Annotated[
        bool, typer.Option("--without-results", help="Only queries whose last search found nothing.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="DURATION", callback=as_duration, help="Only searches of this last time, such as 7d."
        ),
    ] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", metavar="NUMBER", min=1, help="At most so many queries.")] = 50,
    forget: Annotated[bool, typer.Option("--forget", help="Delete the log, of one collection or of all.")] = False,
    as_json: Json = False,
) -> None:
    """List the queries of the log, the most frequent first; without addresses, long numbers and keys.

    A collection keeps a log where its setting `retention.queries` says for how long; otherwise nothing is logged.

    **Example:** `sourcebook queries --without-results --since 7d`

    - `sourcebook queries --forget -c handbook`: delete what was logged of one collection
    """
    if forget and (without_results or since):
        raise typer.BadParameter("--forget deletes the whole log: leave out --without-results and --since")
    context = CommandContext.of(ctx, may_be_served=True)
    names = collection or []
    found: list[LoggedQuery] = []
    deleted = 0
    if not context.is_empty(names):
        with context.knowledge() as knowledge:
            if forget:
                deleted = knowledge.forget_logged_queries(names or None)
            else:
                age = duration(since) if since else None
                found = knowledge.queries(names or None, without_results=without_results, since=age, limit=limit)
    if forget:
        _tell_deleted(deleted, as_json=as_json)
    elif as_json:
        print_json({"queries": [each.as_dict() for each in found]})
    elif found:
        show_table(COLUMNS, [_row(each) for each in found])
    else:
        say("The log has no such query. A collection keeps a log where its setting retention.queries is 30d or so.")


def _tell_deleted(searches: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"deleted": searches})
    else:
        say(f"Deleted {counted(searches, 'search', 'searches')} from the log.")


def _row(found: "LoggedQuery") -> Row:
    last = f"{found.last_asked_at.astimezone():%Y-%m-%d %H:%M}"
    return Row((str(found.searches), str(found.without_results), last, found.collection, found.query))
