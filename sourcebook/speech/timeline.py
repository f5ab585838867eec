"""Times of decoded sound that agree with a player's clock."""

_TOLERANCE = 0.1
"""Seconds of tolerance for time stamps: they are rounded, and jitter after network transmission."""
_LONGEST_GAP = 3600.0
"""Seconds of the longest gap; beyond it, the time stamps are broken."""


class Timeline:
    """The length of the sound so far, with gaps in the time stamps counted as silence.

    Time stamps that go back are not followed: no sound is thrown away.
    """

    def __init__(self) -> None:
        self.end = 0.0
        """Seconds of sound so far."""
        self._offset = 0.0

    def add(self, begin: float | None, seconds: float) -> float:
        """Append sound.

        Args:
            begin: Seconds on a player's clock; None without a time stamp.
            seconds: Length of the sound.

        Returns:
            Seconds of silence before it.
        """
        gap = 0.0 if begin is None else begin - self._offset - self.end
        if gap > _LONGEST_GAP:
            self._offset += gap
        if not _TOLERANCE < gap <= _LONGEST_GAP:
            gap = 0.0
        self.end += gap + seconds
        return gap

    def leave_out(self, seconds: float) -> None:
        """Count a lost part that the time stamps leave out as silence before the next sound."""
        self._offset -= seconds
