"""Events on the way to an answer, as an iterator that may be closed from any thread."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.answering.answer import AskEvent
    from sourcebook.answering.session import Session


class AskEvents(Iterator["AskEvent"]):
    """Events of one session. Unlike a generator's, `close` also works while another thread waits for the next one."""

    def __init__(self, session: "Session") -> None:
        """Prepare; nothing is searched or sent.

        Args:
            session: the session, which has not begun.
        """
        self._session = session
        self._events = session.events()

    def __next__(self) -> "AskEvent":
        """Return the next event; see `Session.events`."""
        return next(self._events)

    def close(self) -> None:
        """End the request to the model; may be called more than once."""
        self._session.leave()
        with suppress(ValueError):  # another thread waits for an event: its request fails, and ends there
            self._events.close()  # type: ignore[attr-defined] # it is a generator
