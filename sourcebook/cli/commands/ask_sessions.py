"""`sourcebook ask-sessions`: the conversations that are kept for whoever asks: listed, written out, deleted."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json
from sourcebook.cli.output import print_json, say
from sourcebook.cli.tables import Column, Row, show_table
from sourcebook.model.counted import counted

if TYPE_CHECKING:
    from sourcebook.contract.ask_sessions import AskSession, AskTurn

_SESSIONS: Final = (
    Column("session"),
    Column("turns", "right"),
    Column("last asked"),
    Column("kept until", leaves=1),
    Column("collections", is_prose=True),
)


def ask_sessions(
    ctx: typer.Context,
    session: Annotated[str | None, typer.Argument(metavar="[SESSION]", help="Name of a conversation.")] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Delete the conversation.")] = False,
    as_json: Json = False,
) -> None:
    """List your conversations of `sourcebook ask --session`, or show one.

    A collection keeps them where its setting `answering.sessions` says for how long.

    **Example:** `sourcebook ask-sessions trip --json > trip.json`

    - `sourcebook ask-sessions trip --forget`: deletes it
    """
    if forget and session is None:
        raise typer.BadParameter("name the conversation to delete")
    context = CommandContext.of(ctx, may_be_served=True)
    with context.knowledge() as knowledge:
        if session is None:
            _show_sessions(knowledge.ask_sessions(), as_json=as_json)
        elif forget:
            turns = knowledge.forget_ask_session(session)
            _tell({"turns": turns}, f"Deleted {counted(turns, 'turn')} of {session}.", as_json=as_json)
        else:
            _show_turns(knowledge.ask_session(session), as_json=as_json)


def _show_sessions(found: "list[AskSession]", *, as_json: bool) -> None:
    if as_json:
        print_json({"sessions": [each.as_dict() for each in found]})
    elif found:
        show_table(_SESSIONS, [_row(each) for each in found])
    else:
        say("There is none. Conversations are kept where a collection has the setting answering.sessions.")


def _row(each: "AskSession") -> Row:
    last, until = (f"{time.astimezone():%Y-%m-%d %H:%M}" for time in (each.last_asked_at, each.expires_at))
    return Row((each.session, str(each.turns), last, until, ", ".join(each.collections)))


def _show_turns(found: "list[AskTurn]", *, as_json: bool) -> None:
    if as_json:
        print_json({"turns": [each.as_dict() for each in found]})
        return
    if not found:
        say("You have no such conversation.")
    for each in found:
        say(f"{each.asked_at.astimezone():%Y-%m-%d %H:%M}  {each.question}")
        say(each.answer, indent="    ")
        say("")


def _tell(told: dict[str, int], words: str, *, as_json: bool) -> None:
    if as_json:
        print_json(told)
    else:
        say(words)
