"""Bases for classes that a `with` block closes."""

from types import TracebackType
from typing import Self


class Closing:
    """Leaving a `with` block calls `close`."""

    def close(self) -> None:
        """Free what is held. May be called more than once."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Return the object; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()


class AsyncClosing:
    """Entering an `async with` block calls `start`, leaving it calls `close`."""

    async def start(self) -> object:
        """Begin, where anything is to be begun."""

    async def close(self) -> None:
        """Free what is held."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        """Start it."""
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()
