"""The actor of a change over HTTP, who is the holder of the key."""

from sourcebook.errors import QueryError


def check_actor(actor: str | None) -> None:
    """Refuse another actor than the holder of the key, whom the server records.

    Raises:
        QueryError: one is named.
    """
    if actor is not None:
        raise QueryError("a server records the name of the key as the actor: leave actor out")
