"""Transcripts as subtitles: SubRip (.srt) and WebVTT (.vtt)."""

import textwrap
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from sourcebook.model.transcript import Segment

LINE = 42
"""Characters of the longest line, as in broadcasting."""
LINES = 2
"""Lines shown at once."""


class _Cue(NamedTuple):
    """Lines shown from `start` to `end`, in milliseconds."""

    start: int
    end: int
    lines: tuple[str, ...]


def srt(segments: Iterable[Segment]) -> str:
    """Return segments as SubRip subtitles; empty where there are none.

    The format knows no escapes, so an arrow that would look like a cue's times becomes a typographic one.
    """
    return "\n".join(
        f"{number}\n{_time(cue.start, ',')} --> {_time(cue.end, ',')}\n"
        + "".join(f"{line.replace('-->', '→')}\n" for line in cue.lines)
        for number, cue in enumerate(_cues(segments), start=1)
    )


def vtt(segments: Iterable[Segment]) -> str:
    """Return segments as WebVTT; its header alone where there are none."""
    return "WEBVTT\n" + "".join(
        f"\n{_time(cue.start, '.')} --> {_time(cue.end, '.')}\n" + "".join(f"{_escaped(line)}\n" for line in cue.lines)
        for cue in _cues(segments)
    )


def _cues(segments: Iterable[Segment]) -> Iterator[_Cue]:
    """Yield each segment as one or more cues, which share its time by their characters."""
    for segment in segments:
        lines = textwrap.wrap(" ".join(segment.text.split()), LINE)
        shown = [tuple(lines[first : first + LINES]) for first in range(0, len(lines), LINES)]
        read = list(accumulate((sum(map(len, cue)) for cue in shown), initial=0))
        start, length = segment.start * 1000, (segment.end - segment.start) * 1000
        times = [round(start + length * characters / read[-1]) for characters in read] if shown else []
        for (begin, end), cue in zip(pairwise(times), shown, strict=True):
            yield _Cue(begin, max(end, begin + 1), cue)  # WebVTT wants an end behind the start


def _escaped(line: str) -> str:
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _time(milliseconds: int, mark: str) -> str:
    seconds, thousandths = divmod(milliseconds, 1000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours:02}:{minute:02}:{second:02}{mark}{thousandths:03}"
