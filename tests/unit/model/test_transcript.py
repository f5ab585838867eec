"""The language of a recording."""

from sourcebook.model.transcript import Language, Segment, most_spoken


def said(seconds: float, language: str | None, probability: float) -> Segment:
    return Segment(0.0, seconds, "Words.", -0.2, 0.0, language, probability)


def test_the_language_of_a_recording_is_that_of_most_speech() -> None:
    """By seconds and probability: 31 doubtful seconds are less than 29 clear ones."""
    assert most_spoken([said(20, "en", 0.9), said(30, "de", 0.95), said(5, "en", 0.8)]) == Language("de", 0.95)
    assert most_spoken([said(29, "fr", 0.97), said(31, "th", 0.58)]) == Language("fr", 0.97)
    assert most_spoken([said(29, "fr", 0.97), said(60, "th", 0.9)]) == Language("th", 0.9)


def test_segments_without_a_language_do_not_count() -> None:
    """Those of earlier versions have none."""
    assert most_spoken([said(20, None, 0.0), said(1, "en", 0.5)]) == Language("en", 0.5)
    assert most_spoken([said(20, None, 0.0)]) is None
