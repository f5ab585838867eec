"""`sourcebook ingest --ask`, which asks for work, and `sourcebook ingest --requests`, which does it."""

from typing import TYPE_CHECKING

import typer

from orchestration.configuration_in_force import configuration_in_force
from sourcebook.cli.errors import FAILED, FAILED_ITEMS

if TYPE_CHECKING:
    from sourcebook.cli.context import CommandContext
    from sourcebook.model.selection import Selection


def ask_and_show(context: "CommandContext", collections: list[str], selection: "Selection", *, as_json: bool) -> None:
    """Ask for collections to be brought up to date, each in a request of its own, and print the requests.

    Args:
        context: the global options.
        collections: names; every collection where empty.
        selection: part of the collections.
        as_json: whether to print one JSON object.

    Raises:
        QueryError: a collection does not exist.
    """
    from sourcebook.admin.audit import account
    from sourcebook.admin.collections import apply, collection_names
    from sourcebook.admin.work_requests import ask_for_work
    from sourcebook.cli.output import print_json
    from sourcebook.cli.requests import show_requests

    arguments = {
        "documents": list(selection.documents),
        "sources": list(selection.sources),
        "only_failed": selection.only_failed,
        "force": selection.force,
        "accept": selection.accept,
    }
    configuration = configuration_in_force(context)
    with context.open_database() as database, database.connection() as connection, connection.transaction():
        apply(connection, configuration)
        names = collections or collection_names(connection)
        asked = [ask_for_work(connection, name, arguments, asked_by=account()) for name in names]
    if as_json:
        print_json({"requests": [request.as_dict() for request in asked]})
    else:
        show_requests(asked)


def do_requests_and_show(context: "CommandContext", *, as_json: bool) -> None:
    """Do the requests that wait with progress bars on stderr, and print how each ended.

    Raises:
        typer.Exit: a request failed (1), or items did (3).
    """
    from orchestration.ingest import IngestEvents
    from orchestration.progress_display import ProgressDisplay
    from orchestration.requested_work import do_requested_work
    from sourcebook.cli.output import print_json
    from sourcebook.cli.requests import show_requests

    configuration = configuration_in_force(context)
    with context.open_database() as database, ProgressDisplay(quiet=as_json) as display:
        events = IngestEvents(display.waiting, display.started, display.speech_is_busy)
        ended = list(do_requested_work(configuration, database, events=events, done=display.finished))
    if as_json:
        print_json({"requests": [request.as_dict() for request in ended]})
    else:
        show_requests(ended, none="No request waits.")
    if any(request.state == "failed" for request in ended):
        raise typer.Exit(FAILED)
    if any(request.failed for request in ended):
        raise typer.Exit(FAILED_ITEMS)
