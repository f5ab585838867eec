"""`sourcebook key`: keys for those who reach the knowledge base over a network."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Collections, Json, as_duration, as_text, duration
from sourcebook.cli.output import print_json, say
from sourcebook.cli.tables import Column, Row, show_table
from sourcebook.errors import QueryError
from sourcebook.model.access import OnBehalf

if TYPE_CHECKING:
    from sourcebook.contract.access import AccessKey, PageSession

_ACTIONS: Final = {"create": "NAME", "revoke": "NAME", "sign-out": "NUMBER"}
"""Actions that need a word more, and what it is."""
COLUMNS: Final = (
    Column("id", "right"),
    Column("name", is_prose=True),
    Column("key", leaves=4),
    Column("scopes"),
    Column("collections", is_prose=True, leaves=3),
    Column("for", is_prose=True, leaves=3),
    Column("state"),
    Column("a minute", "right", leaves=3),
    Column("expires", leaves=2),
    Column("last used", leaves=1),
)
SESSION_COLUMNS: Final = (
    Column("id", "right"),
    Column("key", is_prose=True),
    Column("browser", is_prose=True, leaves=2),
    Column("since", leaves=1),
    Column("last used", leaves=3),
    Column("ends", leaves=4),
)


def key(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[list | create NAME | revoke NAME | sessions | sign-out NUMBER]",
            help="An action.",
            show_default=False,
        ),
    ] = None,
    scopes: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="SCOPE",
            help="What a new key allows: read (the default), write or admin, which include those before; unredacted.",
        ),
    ] = None,
    collections: Collections = None,
    expires: Annotated[
        str | None,
        typer.Option(
            "--expires",
            metavar="DURATION",
            callback=as_duration,
            help="Time until a new key expires, such as 90d; never by default.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="NUMBER",
            min=1,
            max=1_000_000,
            help="Requests a minute with a new key; by default as many as the server allows.",
        ),
    ] = None,
    principals: Annotated[
        list[str] | None,
        typer.Option(
            "--principal",
            metavar="PRINCIPAL",
            help="For whom a new key asks: user:NAME, group:NAME or everyone; repeatable. Else for all in its scope.",
        ),
    ] = None,
    on_behalf: Annotated[
        OnBehalf | None,
        typer.Option(
            "--on-behalf",
            help="Whether requests with a new key must, or may, say for whom they ask: X-Sourcebook-Principals.",
            show_default=False,
        ),
    ] = None,
    origins: Annotated[
        list[str] | None,
        typer.Option(
            "--origin",
            metavar="ORIGIN",
            help="A site whose pages alone may send a new key, which then only searches and asks; repeatable.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Create, list and revoke the keys with which `sourcebook serve` is reached from other machines.

    A key is shown once, when it is created: the knowledge base keeps only its SHA-256. With `-c` it sees only those
    collections; the others do not exist for it. With `--principal` it sees only the documents that these persons and
    groups may see. A revoked key is refused from the next request on.

    **Example:** `sourcebook key create website -c handbook --expires 90d`

    - `sourcebook key create anna --principal user:anna@example.org --principal group:board`: a key of a person

    - `sourcebook key create portal --on-behalf required`: a key of a front end that says for whom it asks

    - `sourcebook key create docs --origin https://docs.example.com`: a key for the search widget of a site

    - `sourcebook key list`: every key, with its last use

    - `sourcebook key revoke website`

    - `sourcebook key sessions`: browsers that are signed in with keys; `sourcebook key sign-out 3` ends one
    """
    from sourcebook.operations.access_keys import create_key, end_session, keys, revoke_key, sessions

    action, name = _parse([as_text(word) for word in words or ()])
    if action != "create" and (scopes or collections or expires or limit or principals or on_behalf or origins):
        raise typer.BadParameter(
            "--scope, -c, --expires, --limit, --principal, --on-behalf and --origin belong to  "
            "sourcebook key create NAME"
        )
    with CommandContext.of(ctx).own_knowledge() as knowledge:
        if action == "create":
            lasts = duration(expires) if expires else None
            made, text = create_key(
                knowledge,
                name,
                scopes or ("read",),  # type: ignore[arg-type] # checked there
                collections or None,
                lasts=lasts,
                limit=limit,
                principals=principals or None,
                on_behalf=on_behalf,
                origins=origins or None,
            )
            if as_json:
                print_json({"key": text, **made.as_dict()})
            else:
                typer.echo("Keep this key now, it is shown only once:", err=True)
                typer.echo(text)
        elif action == "revoke":
            revoked = revoke_key(knowledge, name)
            if as_json:
                print_json(revoked.as_dict())
            else:
                say(f"The key {revoked.name} is revoked.")
        elif action == "sign-out":
            if not end_session(knowledge, _number(name)):
                raise QueryError(f"no browser with the number {name} is signed in: sourcebook key sessions  shows them")
            say(f"The browser {name} is signed out.")
        elif action == "sessions":
            _show_sessions(sessions(knowledge), as_json=as_json)
        else:
            _show(keys(knowledge), as_json=as_json)


def _parse(words: list[str]) -> tuple[str, str]:
    """Return the action and the name."""
    if words in ([], ["list"], ["sessions"]):
        return (words or ["list"])[0], ""
    if len(words) == 2 and words[0] in _ACTIONS:
        return words[0], words[1]
    raise typer.BadParameter("say  list, create NAME, revoke NAME, sessions  or  sign-out NUMBER")


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise typer.BadParameter(f"{text!r} is no number of a session: sourcebook key sessions  shows them")
    return int(text)


def _show_sessions(sessions: "list[PageSession]", *, as_json: bool) -> None:
    if as_json:
        print_json({"sessions": [each.as_dict() for each in sessions]})
    elif sessions:
        show_table(SESSION_COLUMNS, [_session_row(each) for each in sessions])
    else:
        say("No browser is signed in.")


def _show(keys: "list[AccessKey]", *, as_json: bool) -> None:
    if as_json:
        print_json({"keys": [each.as_dict() for each in keys]})
    elif keys:
        show_table(COLUMNS, [_row(each) for each in keys])
    else:
        say("There is no key. Make one: sourcebook key create NAME")


def _session_row(session: "PageSession") -> Row:
    times = (f"{time.astimezone():%Y-%m-%d %H:%M}" for time in (session.began_at, session.used_at, session.ends_at))
    return Row((str(session.id), session.key, session.browser, *times))


def _asked_for(key: "AccessKey") -> str:
    if key.on_behalf is not None:
        return f"others ({key.on_behalf})"
    if key.origins is not None:
        return f"pages of {', '.join(key.origins)}"
    return "all" if key.principals is None else ", ".join(key.principals)


def _row(key: "AccessKey") -> Row:
    cells = (
        str(key.id),
        key.name,
        f"{key.beginning}…",
        ", ".join(key.scopes),
        "all" if key.collections is None else ", ".join(key.collections),
        _asked_for(key),
        key.state,
        "" if key.requests_a_minute is None else f"{key.requests_a_minute:,}",
        f"{key.expires_at.astimezone():%Y-%m-%d}" if key.expires_at else "never",
        f"{key.used_at.astimezone():%Y-%m-%d %H:%M}" if key.used_at else "never",
    )
    return Row(cells, styles={6: "" if key.state == "valid" else "red"})
