"""Subtitles are what players accept, and hold every word in its time."""

import html
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.model.transcript import Segment
from sourcebook.speech.subtitles import srt, vtt

TIME = re.compile(r"(\d{2,}):(\d\d):(\d\d)[.,](\d{3})")


def said(start: float, end: float, text: str) -> Segment:
    return Segment(start, end, text, -0.2, 0.01)


def seconds(written: str) -> float:
    found = TIME.fullmatch(written)
    assert found is not None, written
    hours, minutes, second, thousandths = map(int, found.groups())
    assert minutes < 60
    assert second < 60
    return hours * 3600 + minutes * 60 + second + thousandths / 1000


def cues(blocks: list[list[str]]) -> list[tuple[float, float, list[str]]]:
    """Read blocks of lines, the first of each the times."""
    read = []
    for times, *lines in blocks:
        start, end = times.split(" --> ")
        read.append((seconds(start), seconds(end), lines))
    return read


def test_subrip() -> None:
    """Numbers, times with commas, text, an empty line between cues."""
    assert srt([said(0, 1.5, "Ask not"), said(3723.0049, 3725, "what your country")]) == (
        "1\n00:00:00,000 --> 00:00:01,500\nAsk not\n\n2\n01:02:03,005 --> 01:02:05,000\nwhat your country\n"
    )


def test_webvtt() -> None:
    """A header, times with points, no markup from what was said."""
    assert vtt([said(59.9996, 61, "1 < 2 & <b>3</b> --> 4")]) == (
        "WEBVTT\n\n00:01:00.000 --> 00:01:01.000\n1 &lt; 2 &amp; &lt;b&gt;3&lt;/b&gt; --&gt; 4\n"
    )


def test_silence() -> None:
    """Nobody speaks: no cue, and still a valid file."""
    assert (srt([]), vtt([])) == ("", "WEBVTT\n")


def test_a_long_segment_becomes_several_cues() -> None:
    """Two lines of 42 characters at a time, the time shared by the characters."""
    text = " ".join(["wave"] * 51)
    lines = vtt([said(10, 40, text)]).removeprefix("WEBVTT\n\n").split("\n\n")
    found = cues([block.strip().split("\n") for block in lines])
    assert len(found) == 4
    assert (found[0][0], found[-1][1]) == (10, 40)
    assert [after[0] for after in found[1:]] == [before[1] for before in found[:-1]]
    assert all(len(shown) <= 2 and max(map(len, shown)) <= 42 for *_, shown in found)
    assert found[0][1] - found[0][0] > 2 * (found[-1][1] - found[-1][0])


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 5000), st.floats(0, 30), st.text(max_size=120) | st.just("a --> b\n\nc <i>"))))
def test_any_speech_is_a_valid_file(spoken: list[tuple[float, float, str]]) -> None:
    """Both formats read back to the words that were said, every cue ends after it begins, none has an empty line."""
    segments, clock = [], 0.0
    for pause, length, text in spoken:
        segments.append(said(clock + pause, clock + pause + length, text))
        clock = segments[-1].end
    words = "".join("".join(segment.text.split()) for segment in segments)
    header, *blocks = vtt(segments).removesuffix("\n").split("\n\n")
    assert header == "WEBVTT"
    found = cues([block.split("\n") for block in blocks])
    assert "".join(html_free(line) for *_, lines in found for line in lines) == words
    numbered = [block.split("\n") for block in srt(segments).removesuffix("\n").split("\n\n") if block]
    assert [int(number) for number, *_ in numbered] == list(range(1, len(numbered) + 1))
    same = cues([block for _, *block in numbered])
    assert [cue[:2] for cue in same] == [cue[:2] for cue in found]
    for start, end, lines in [*found, *same]:
        assert start < end
        assert lines
        assert not any("-->" in line or not line.strip() for line in lines)


def html_free(line: str) -> str:
    assert "<" not in line
    return "".join(html.unescape(line).split())
