"""Limits of requests and tokens a minute, of a provider and of a collection, shared by all processes in PostgreSQL."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from psycopg import Connection

from sourcebook.config.provider import ProviderSettings
from sourcebook.database.queries import queries

Connecting = Callable[[], AbstractContextManager[Connection]]
"""Lends a connection in autocommit mode."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A request that may begin, or that has to wait."""

    request: int | None
    """Id of the request; None where it has to wait or nothing is counted."""
    seconds: float = 0.0
    """Seconds to wait before the next attempt; 0 where it may begin."""


class Limits(Protocol):
    """Counts requests and tokens."""

    def take(self, tokens: int) -> Taken:
        """Reserve a request with at most so many tokens, or say how long to wait."""

    def end(self, taken: Taken, tokens: int | None) -> None:
        """Record the end of a request, with the tokens that the provider counted; None where it has not said."""


class NoLimits:
    """The limits of a provider without any."""

    def take(self, tokens: int) -> Taken:
        """Let every request through."""
        return Taken(None)

    def end(self, taken: Taken, tokens: int | None) -> None:
        """Count nothing."""


class SharedLimits:
    """Limits whose requests stand in the database: several processes together stay below them.

    Each minute as the provider may count it holds no more than the limit: a request counts from its beginning until a
    minute after its end.
    """

    def __init__(self, connecting: Connecting, settings: ProviderSettings, collection: str) -> None:
        self._connecting = connecting
        self._scope = {
            "provider": f"{settings.url} {settings.key_variable or ''}",
            "collection": collection,
            "requests_per_minute": settings.requests_per_minute,
            "tokens_per_minute": settings.tokens_per_minute,
        }

    def take(self, tokens: int) -> Taken:
        """Reserve a request in the database, or say how long to wait."""
        with self._connecting() as connection:
            row = connection.execute(queries["take_provider_request"], {**self._scope, "tokens": tokens}).fetchone()
        request, seconds = row or (None, 1.0)
        return Taken(request, seconds)

    def end(self, taken: Taken, tokens: int | None) -> None:
        """Record the end of a request in the database."""
        with self._connecting() as connection:
            connection.execute(queries["end_provider_request"], {"request": taken.request, "tokens": tokens})


def limits_of(connecting: Connecting, settings: ProviderSettings, collection: str) -> Limits:
    """Return the limits that settings ask for."""
    if settings.requests_per_minute is None and settings.tokens_per_minute is None:
        return NoLimits()
    return SharedLimits(connecting, settings, collection)
