"""Notations of times within a recording."""

from math import ceil, floor


def stamp(seconds: float) -> str:
    """Return a time in clock notation, truncated to whole seconds: `12:30`, from one hour on `1:02:30`."""
    minutes, second = divmod(floor(_milliseconds(seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def time_span(start: float | None, end: float | None) -> str | None:
    """Return a time span in clock notation, `12:30–14:15`; None without times.

    Both times are truncated, so that a passage ends at the time at which the next one begins.
    """
    return None if start is None or end is None else f"{stamp(start)}–{stamp(end)}"


def media_fragment(start: float | None, end: float | None) -> str | None:
    """Return the URI fragment of a time span: `t=750,855` (W3C Media Fragments 1.0).

    The fragment covers the span in whole seconds, at least one: players ignore an empty span.
    """
    if start is None or end is None:
        return None
    begin = floor(_milliseconds(start))
    return f"t={begin},{max(ceil(_milliseconds(end)), begin + 1)}"


def _milliseconds(seconds: float) -> float:
    """Return seconds rounded to milliseconds, so that 855.0000000001 is not in the next second."""
    return round(seconds, 3)
