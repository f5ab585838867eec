"""Seconds of responses are kept for the URLs that are visited, and no longer than until they are written."""

from sourcebook.web.fetch_times import FetchTimes


def test_the_longest_response_of_a_visited_url_is_taken_once() -> None:
    times = FetchTimes()
    times.expect("https://example.org/page")
    for seconds in (0.25, 1.5, 0.5):
        times.note("https://example.org/page", seconds)
    assert times.take("https://example.org/page") == 1.5
    assert times.take("https://example.org/page") is None


def test_nothing_is_kept_of_other_requests() -> None:
    """Such as robots.txt, frames, logins, and the same page under another URL."""
    times = FetchTimes()
    times.note("https://example.org/robots.txt", 0.5)
    assert times.take("https://example.org/robots.txt") is None
    times.expect("https://example.org/cached")
    assert times.take("https://example.org/cached") is None
