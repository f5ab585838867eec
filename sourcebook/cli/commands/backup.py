"""`sourcebook backup` and `sourcebook restore`: the whole knowledge base as one file."""

from pathlib import Path
from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json
from sourcebook.cli.output import console, print_json, safe, say_waiting
from sourcebook.model.counted import counted


def backup(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, such as sourcebook.dump.")],
    as_json: Json = False,
) -> None:
    """Write the whole knowledge base into one file, while ingests and searches go on.

    The file is in the custom format of PostgreSQL's `pg_dump`. A file of that name is replaced when the new one is
    complete. Dagster's history of runs, the sources and the models are not in it.

    **Example:** `sourcebook backup /backups/sourcebook.dump`
    """
    from sourcebook.errors import QueryError

    context = CommandContext.of(ctx)
    if context.is_empty():
        raise QueryError("there is nothing to back up: nothing was ingested yet")
    from sourcebook.transfer.backup import backup as write_backup

    with context.open_database() as database:
        done = write_backup(database, file)
    if as_json:
        print_json(done.as_dict())
    else:
        console().print(safe(f"{done.file}: {done.bytes / 1_000_000:,.1f} MB"), soft_wrap=True)


def restore(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `sourcebook backup` wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Give up the collections that the knowledge base has now.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make the knowledge base what a backup holds.

    It changes at one moment or not at all: searches find the former contents until then, and a restoration that fails
    or is killed changes nothing. A knowledge base with collections is replaced with `--replace` only. The next
    `sourcebook ingest` takes in what has changed in the sources since the backup.

    **Example:** `sourcebook restore /backups/sourcebook.dump`, then `sourcebook ingest`
    """
    from sourcebook.transfer.backup import restore as read_backup

    context = CommandContext.of(ctx)
    with context.open_database() as database:
        done = read_backup(database, file, replace=replace, waiting=say_waiting)
    if as_json:
        print_json(done.as_dict())
        return
    names = ", ".join(done.collections) or "no collection"
    console().print(safe(f"{names}: {counted(done.documents, 'document')}. Next: sourcebook ingest"), soft_wrap=True)
