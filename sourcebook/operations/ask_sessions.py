"""Conversations with a language model that are kept for their caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.contract.ask_sessions import AskSession, AskTurn
    from sourcebook.operations.opened import Opened


def ask_sessions(knowledge: Opened, *, owner: str | None = None) -> list[AskSession]:
    """Return the caller's conversations, the one that was continued last first.

    Args:
        owner: who asks; the account of this process by default, with the principals where it asks for some.
    """
    from sourcebook.answering.kept_sessions import sessions_of

    with knowledge._books.connection() as connection:
        return sessions_of(connection, owner or knowledge._account)


def ask_session(knowledge: Opened, session: str, *, owner: str | None = None) -> list[AskTurn]:
    """Return the turns of one of the caller's conversations, the oldest first; none where there is no such one.

    Args:
        session: name of the conversation.
        owner: who asks; the account of this process by default, with the principals where it asks for some.
    """
    from sourcebook.contract.fields import storable

    return knowledge._turns_of(owner or knowledge._account, storable(session))


def forget_ask_session(knowledge: Opened, session: str, *, owner: str | None = None) -> int:
    """Delete one of the caller's conversations; return the number of its turns.

    Args:
        session: name of the conversation.
        owner: who asks; the account of this process by default, with the principals where it asks for some.
    """
    from sourcebook.answering.kept_sessions import forget_session
    from sourcebook.contract.fields import storable

    with knowledge._books.connection() as connection:
        return forget_session(connection, owner or knowledge._account, storable(session))
