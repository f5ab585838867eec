"""Keep the times of decoded sound those that a player shows."""

_TOLERANCE = 0.1
"""Seconds by which time stamps may be off: they are rounded, and jitter in what was received by a network."""
_LONGEST_GAP = 3600.0
"""Seconds; where more is said to be missing, it is the time stamps that are broken."""


class Timeline:
    """The length of what was heard so far, with gaps in the time stamps counted as silence.

    Time stamps that go back are not followed: no sound is thrown away.
    """

    def __init__(self) -> None:
        self.end = 0.0
        """Seconds."""
        self._offset = 0.0

    def add(self, begin: float | None, seconds: float) -> float:
        """Append sound.

        Args:
            begin: seconds on a player's clock, None where there is no time stamp.
            seconds: its length.

        Returns:
            Seconds of silence in front of it.
        """
        gap = 0.0 if begin is None else begin - self._offset - self.end
        if gap > _LONGEST_GAP:
            self._offset += gap
        if not _TOLERANCE < gap <= _LONGEST_GAP:
            gap = 0.0
        self.end += gap + seconds
        return gap

    def leave_out(self, seconds: float) -> None:
        """Take note of a lost part that the time stamps do not count; it is silence in front of what comes next."""
        self._offset -= seconds
