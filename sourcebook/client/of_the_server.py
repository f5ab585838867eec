"""Arguments of `KnowledgeBase` that are the server's to decide: who acts, and how models compute."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sourcebook.errors import QueryError

if TYPE_CHECKING:
    from sourcebook.contract.reranking import Reranking


def check_actor(actor: str | None) -> None:
    """Refuse an actor.

    Raises:
        QueryError: one is named.
    """
    if actor is not None:
        raise QueryError("a server records the name of the key as the actor: leave actor out")


def storable(text: str) -> str:
    """Return a text without lone surrogates, which JSON cannot carry; `KnowledgeBase` reads `?` for them, too."""
    return text.encode("utf-8", "replace").decode()


def plain_reranking(rerank: "Reranking | None") -> dict[str, Any] | None:
    """Return a reranking as JSON.

    Raises:
        QueryError: it says how the model computes, or from whom it comes.
    """
    if rerank is None:
        return None
    values = asdict(rerank)
    of_the_server = [values.pop(name) for name in ("provider", "base_url", "api_key_env")]
    if values.pop("device") != "auto" or any(value is not None for value in of_the_server):
        raise QueryError("a server chooses how its own models compute, and from whom it gets others: give a name alone")
    return values
