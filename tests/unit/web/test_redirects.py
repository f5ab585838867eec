"""Redirects that lead nowhere have a reason."""

from sourcebook.web.outcome import RedirectTrail


def test_a_circle() -> None:
    """It is found where it closes; a page that redirects to itself may wait for its cookie."""
    trail = RedirectTrail()
    assert trail.follow("https://a.example/1", "https://a.example/2") is None
    reason = trail.follow("https://a.example/2", "https://a.example/1")
    assert reason == "its redirects go round in a circle, by https://a.example/1"
    assert "`request: {cookies: true}`" in (trail.follow("https://a.example/3", "https://a.example/3") or "")


def test_a_long_way() -> None:
    """Ten redirects in a row are followed."""
    trail = RedirectTrail()
    answers = [trail.follow(f"https://a.example/{each}", f"https://a.example/{each + 1}") for each in range(11)]
    assert answers == [None] * 10 + ["the redirects that lead here are more than 10"]
