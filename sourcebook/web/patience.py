"""Pauses of crawls beside each other, so that a slow one does not hold up the pages of the others."""

import time

SECONDS = 600.0
"""Seconds after the end of a site with new or changed pages; then the others pause until these are searchable."""


class Patience:
    """Says when crawls beside each other pause, so that a slow one does not hold up the pages of the others.

    Args:
        endless: whether they never pause.
    """

    def __init__(self, *, endless: bool = False) -> None:
        self._endless = endless
        self._until: float | None = None

    def begin(self) -> None:
        """Start the time, at the first end of a site with new or changed pages."""
        if self._until is None and not self._endless:
            self._until = time.monotonic() + SECONDS

    def give_way(self) -> None:
        """Let the crawls pause now: something else of the collection waits."""
        if not self._endless:
            self._until = time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether every crawl is to pause now."""
        return self._until is not None and time.monotonic() >= self._until
