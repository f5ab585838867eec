"""Arguments of `KnowledgeBase` that are the server's to decide: who acts, and whether redaction is lifted."""

from sourcebook.errors import QueryError


def check_actor(actor: str | None) -> None:
    """Refuse an actor.

    Raises:
        QueryError: one is named.
    """
    if actor is not None:
        raise QueryError("a server records the name of the key as the actor: leave actor out")


def as_redacted(unredacted: bool) -> None:
    """Refuse to lift redaction.

    Raises:
        QueryError: it is to be lifted.
    """
    if unredacted:
        raise QueryError("a server shows to nobody what a collection redacts: leave unredacted out")
