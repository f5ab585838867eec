"""`sourcebook tenants`: a database for each tenant of one PostgreSQL."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json, as_text
from sourcebook.cli.output import console, print_json, safe, say
from sourcebook.cli.tables import Column, Row, show_table

if TYPE_CHECKING:
    from sourcebook.contract.tenants import NewTenant

COLUMNS: Final = (
    Column("tenant", is_prose=True),
    Column("connections", "right"),
    Column("size", "right"),
)


def tenants(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[list | add NAME | remove NAME]", help="An action.", show_default=False),
    ] = None,
    connections: Annotated[
        int | None,
        typer.Option(
            "--connections",
            metavar="NUMBER",
            min=1,
            max=10_000,
            help="With add, how many connections it may have at once; 40 by default.",
            show_default=False,
        ),
    ] = None,
    new_password: Annotated[
        bool, typer.Option("--new-password", help="With add, another password for a tenant that is there.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Make, list and remove tenants: databases of one PostgreSQL that know nothing of each other.

    SOURCEBOOK_DATABASE_URL is a database of that PostgreSQL, as a role that may make roles and databases. `add` makes
    a role with a password, its database with the tables, and its first key, or what of these is missing.

    **Example:** `sourcebook tenants add acme`

    - `sourcebook tenants list`: each with its size and its connections

    - `sourcebook tenants remove acme`: the database with all that is in it, at once
    """
    context = CommandContext.of(ctx)
    from sourcebook.admin import tenants as work
    from sourcebook.admin.audit import account
    from sourcebook.errors import DatabaseError

    action, name = _parse([as_text(word) for word in words or ()])
    if action != "add" and (connections is not None or new_password):
        raise typer.BadParameter("--connections and --new-password belong to  sourcebook tenants add NAME")
    if action == "remove" and as_json and not yes:
        raise typer.BadParameter("--json cannot ask for confirmation: add --yes")
    administrator = context.location.url
    if administrator is None:
        raise DatabaseError(
            "tenants need a PostgreSQL of your own",
            remedy="set SOURCEBOOK_DATABASE_URL to a database of its administrator",
        )
    if action == "add":
        home = context.location.home
        made = work.add_tenant(
            administrator, name, home, connections=connections, new_password=new_password, actor=account()
        )
        print_json(made.as_dict()) if as_json else _show(made)
    elif action == "remove":
        if not yes:
            console().print(f"This deletes the database of {name} with all that is in it, at once.", soft_wrap=True)
            typer.confirm("Delete it?", abort=True)
        work.remove_tenant(administrator, name)
        print_json({"removed": name}) if as_json else say(safe(f"The tenant {name} is removed."))
    else:
        found = work.list_tenants(administrator)
        if as_json:
            print_json({"tenants": [each.as_dict() for each in found]})
        elif found:
            rows = [
                (each.name, f"{each.connected} of {each.connections}", f"{each.bytes / 1e6:,.0f} MB") for each in found
            ]
            show_table(COLUMNS, [Row(row) for row in rows])
        else:
            say("There are no tenants. Make one: sourcebook tenants add NAME")


def _parse(words: list[str]) -> tuple[str, str]:
    """Return the action and the name."""
    if words in ([], ["list"]):
        return "list", ""
    if len(words) == 2 and words[0] in {"add", "remove"}:
        return words[0], words[1]
    raise typer.BadParameter("say  list, add NAME  or  remove NAME")


def _show(made: "NewTenant") -> None:
    typer.echo("Keep these now, the password and the key are shown only once:", err=True)
    typer.echo(f"SOURCEBOOK_DATABASE_URL={made.url}")
    if not made.has_password:
        typer.echo("It has the password that it had: --new-password makes another.", err=True)
    if made.key is not None:
        typer.echo(f"SOURCEBOOK_KEY={made.key}")
