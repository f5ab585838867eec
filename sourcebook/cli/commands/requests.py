"""`sourcebook requests`: the work that was asked for, and how far it is."""

import sys
import time
from typing import TYPE_CHECKING, Annotated, Final

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.errors import FAILED, FAILED_ITEMS
from sourcebook.cli.options import Collections, Json, listed_names
from sourcebook.cli.output import print_json
from sourcebook.cli.requests import progress_of, show_requests, state_of

if TYPE_CHECKING:
    from sourcebook.cli.context import Knowledge
    from sourcebook.contract.work import WorkRequest

_SECONDS_BETWEEN_LOOKS: Final = 0.5
_MOST_ID: Final = (1 << 63) - 1


def requests(
    ctx: typer.Context,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[ID]", min=1, max=_MOST_ID, help="Only this request.", show_default=False),
    ] = None,
    collection: Collections = None,
    states: Annotated[
        list[str] | None,
        typer.Option(
            "--state",
            metavar="STATE",
            callback=listed_names,
            help="Only requests in this state: waiting, running, succeeded, failed or cancelled; may be repeated.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("-n", "--limit", metavar="NUMBER", min=1, max=1_000, help="At most so many requests.")
    ] = 20,
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel the request ID.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Show the progress of the request ID until it ends.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the work that was asked for over the API, by an agent or with `ingest --ask`, the newest first.

    A running request that is cancelled stops after the batch that it works on; what is published stays.

    **Example:** `sourcebook requests --state running`

    - `sourcebook requests 12 --follow`: wait until the request 12 has ended

    - `sourcebook requests 12 --cancel`
    """
    if number is None and (cancel or follow):
        raise typer.BadParameter("--cancel and --follow need the id of a request")
    if number is not None and (collection or states):
        raise typer.BadParameter("an ID names one request: leave out -c and --state")
    context = CommandContext.of(ctx, may_be_served=True)
    found: list[WorkRequest] = []
    if not context.is_empty(collection or []):
        with context.knowledge() as knowledge:
            if number is None:
                found = knowledge.work_requests(collection or None, states=states or (), limit=limit)
            else:
                found = [_one(knowledge, number, cancel=cancel, follow=follow, is_shown=not as_json)]
    elif number is not None:
        raise _unknown(number)
    if as_json:
        print_json({"requests": [each.as_dict() for each in found]})
    else:
        show_requests(found)
    if follow and found[0].state != "succeeded":
        raise typer.Exit(FAILED)
    if follow and found[0].failed:
        raise typer.Exit(FAILED_ITEMS)


def _one(knowledge: "Knowledge", number: int, *, cancel: bool, follow: bool, is_shown: bool) -> "WorkRequest":
    request = knowledge.cancel_work(number) if cancel else knowledge.work(number)
    said = ""
    while request is not None and follow and not request.has_ended:
        line = " ".join(part for part in (state_of(request), progress_of(request)) if part)
        if is_shown and line != said:
            said = line
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        request = knowledge.work(number)
    if request is None:
        raise _unknown(number)
    return request


def _unknown(number: int) -> Exception:
    from sourcebook.errors import QueryError

    return QueryError(f"there is no request {number}: sourcebook requests  lists them")
