"""Events on the way to an answer, as an iterator that may be closed from any thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.contract.answers import AskEvent


class AskEvents(Iterator["AskEvent"]):
    """Events of one question. Unlike a generator's, `close` may come while another thread waits."""

    def __init__(self, events: Iterator[AskEvent], leave: Callable[[], None] = lambda: None) -> None:
        """Prepare; nothing is searched or sent.

        Args:
            events: a generator of the events, which has not begun.
            leave: ends what another thread waits for.
        """
        self._events, self._leave = events, leave

    def __next__(self) -> AskEvent:
        """Return the next event."""
        return next(self._events)

    def close(self) -> None:
        """End the request to the model; may be called more than once."""
        self._leave()
        with suppress(ValueError):  # another thread waits for an event: its request fails, and ends there
            self._events.close()  # type: ignore[attr-defined] # it is a generator
