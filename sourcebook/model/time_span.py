"""How times within a recording are written."""

from math import ceil, floor


def stamp(seconds: float) -> str:
    """Return a time as a clock shows it, cut to whole seconds: `12:30`, from one hour on `1:02:30`."""
    minutes, second = divmod(floor(_milliseconds(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def time_span(start: float | None, end: float | None) -> str | None:
    """Return a time span as people write it, `12:30–14:15`; None where there is none.

    Both are cut alike, so that a passage is seen to end where the next one begins.
    """
    return None if start is None or end is None else f"{stamp(start)}–{stamp(end)}"


def media_fragment(start: float | None, end: float | None) -> str | None:
    """Return what stands behind a URI's `#` for a time span: `t=750,855` (W3C Media Fragments 1.0).

    Whole seconds that hold all of the span, at least one: players ignore an empty one.
    """
    if start is None or end is None:
        return None
    begin = floor(_milliseconds(start))
    return f"t={begin},{max(ceil(_milliseconds(end)), begin + 1)}"


def _milliseconds(seconds: float) -> float:
    """Return seconds without the last bits of a sum: 855.0000000001 is not in the next second."""
    return round(seconds, 3)
