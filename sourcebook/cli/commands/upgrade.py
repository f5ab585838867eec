"""`sourcebook upgrade`: the tables of the knowledge base in the version of this Sourcebook."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json
from sourcebook.cli.output import console, print_json, safe

if TYPE_CHECKING:
    from sourcebook.database.schema import Migration

_TO_DO: Final = 3
"""Exit code of a check that finds something to do."""


def upgrade(
    ctx: typer.Context,
    is_check: Annotated[bool, typer.Option("--check", help="Say what would be done; change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Bring the tables of the knowledge base to the version of this Sourcebook, and do nothing else.

    Every command that opens the knowledge base does so first. On a server, run `upgrade` alone before the programs of
    a new version start: it shows each step, waits for sessions that hold the tables, and goes on where it was killed.
    Searches go on meanwhile. An older Sourcebook refuses upgraded tables, so make a backup before.

    Exit codes of `--check`: 0 nothing to do, 3 something to do, 1 these tables cannot become this version's.

    **Example:** `sourcebook upgrade --check`
    """
    from sourcebook.database.database import Database
    from sourcebook.database.schema import ensure_schema, newest_version, pending_migrations, schema_version

    context = CommandContext.of(ctx)
    found: int | None = None
    pending: list[Migration] = []
    if not context.is_empty():
        with Database(context.location, upgrades=False) as database, database.own_connection() as connection:
            found = schema_version(connection)
            pending = pending_migrations(connection) if found is not None else []
            if not is_check:
                ensure_schema(connection, applied=lambda step: _show(step, as_json=as_json))
    if as_json:
        steps = [{"version": step.version, "name": step.name} for step in pending]
        print_json({"found": found, "newest": newest_version(), "steps": steps, "applied": not is_check})
    else:
        _summarise(found, newest_version(), pending, is_check=is_check)
    if is_check and pending:
        raise typer.Exit(_TO_DO)


def _show(step: "Migration", *, as_json: bool) -> None:
    if not as_json:
        console().print(safe(f"Applied {step.version} {step.name}"), soft_wrap=True)


def _summarise(found: int | None, newest: int, pending: "list[Migration]", *, is_check: bool) -> None:
    if found is None:
        text = f"There are no tables to upgrade: new ones are made in version {newest}."
    elif not pending:
        text = f"There is nothing to upgrade: the tables have version {newest}."
    elif is_check:
        steps = ", ".join(f"{step.version} {step.name}" for step in pending)
        text = f"The tables have version {found}. To apply: {steps}.\nMake a backup, and run: sourcebook upgrade"
    else:
        text = f"The tables have version {newest}."
    console().print(safe(text), soft_wrap=True)
