"""Times are written as people, players and links read them."""

import pytest

from sourcebook.model.place import media_fragment, stamp, time_span


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0.0, "0:00"),
        (9.99, "0:09"),
        (59.9999999, "1:00"),
        (750.9, "12:30"),
        (3599.9, "59:59"),
        (3600.0, "1:00:00"),
        (3750, "1:02:30"),
        (36_000, "10:00:00"),
    ],
)
def test_stamps(seconds: float, written: str) -> None:
    """Hours are there from one hour on; the last bits of a sum do not count."""
    assert stamp(seconds) == written


@pytest.mark.parametrize(
    ("start", "end", "span", "fragment"),
    [
        (750.0, 855.0, "12:30–14:15", "t=750,855"),
        (750.9, 854.1, "12:30–14:14", "t=750,855"),
        (750.0, 855.0000000001, "12:30–14:15", "t=750,855"),
        (3750.0, 3840.0, "1:02:30–1:04:00", "t=3750,3840"),
        (3590.0, 3605.0, "59:50–1:00:05", "t=3590,3605"),
        (5.0, 5.0, "0:05–0:05", "t=5,6"),
    ],
)
def test_spans(start: float, end: float, span: str, fragment: str) -> None:
    """People see both ends cut alike; a player gets all that is said, and never an empty span: it would ignore it."""
    assert (time_span(start, end), media_fragment(start, end)) == (span, fragment)


def test_what_is_no_recording_has_no_span() -> None:
    """None stays None."""
    assert time_span(None, None) is None
    assert media_fragment(None, None) is None
