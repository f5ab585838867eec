"""Subtitles and captions (SubRip, WebVTT) as speech with its times, like the transcript of a recording."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import unescape

from sourcebook.model.document import Block, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.model.transcript import Segment
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.plain_text import parse_plain_text
from sourcebook.parsing.text.titles import cut_title
from sourcebook.parsing.transcript import parse_transcript

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?"
_TIMING = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}(?:[ \t][^\n]*)?")
_NUMBER = re.compile(r"[ \t]*\d+[ \t]*")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^>\n]+)>")
_MARKUP = re.compile(r"</?[A-Za-z][^<>\n]*>|<[\d:.]+>|\{\\[^{}\n]*\}|\{[yYcCfFsS]:[^{}\n]*\}")
"""Tags, times of single words, and positions as other subtitle formats write them."""
_TOUCHING_SECONDS = 0.1
"""Gap between two cues of captions that roll up, at most."""
_SHIFT_SECONDS = 0.05
"""Length of a cue that only moves the line before it up."""

_NOTE = re.compile(r"^NOTE[ \t\n](.*?)(?=\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)
"""A remark of a WebVTT file, which no player shows."""


@dataclass(frozen=True, slots=True)
class _Cue:
    start: float
    """Start in seconds."""
    end: float
    lines: tuple[str, ...]


def parse_timed_text(content: bytes) -> ParsedDocument:
    """Parse cues in the order of their times; tags go, and a voice is written before its words.

    Lines that roll up from cue to cue, as in automatic captions, are kept once. A file without cues is plain text.
    """
    decoded = decode(content)
    cues = sorted(_cues(decoded.text.split("\n")), key=lambda cue: cue.start)
    segments = tuple(_segments(cues))
    if not segments:
        return parse_plain_text(content)
    document = parse_transcript(segments, title=_title(decoded.text), language=None)
    whole = Block("paragraph", 0, len(document.markdown))
    return replace(
        document,
        language=detect_language(document.markdown, [whole]),
        metadata=with_left_out(
            {"encoding": decoded.encoding, "duration_seconds": max(segment.end for segment in segments)},
            {"hidden_words": sum(len(note[1].split()) for note in _NOTE.finditer(decoded.text))},
        ),
    )


def _cues(lines: list[str]) -> Iterator[_Cue]:
    """Yield the cues; a cue ends with a blank line, or where the next one begins."""
    timings = [(number, found) for number, line in enumerate(lines) if (found := _TIMING.fullmatch(line))]
    after = [*(number for number, _ in timings[1:]), len(lines)][: len(timings)]
    is_webvtt = lines[0].startswith("WEBVTT")
    for (number, timing), next_timing in zip(timings, after, strict=True):
        end = next_timing
        if is_webvtt:  # notes, styles and names of cues stand between the cues
            end = next((place for place in range(number + 1, end) if not lines[place].strip()), end)
        elif next_timing < len(lines) and end - 1 > number and _NUMBER.fullmatch(lines[end - 1]):
            end -= 1
        start, finish = _seconds(timing.groups()[:4]), _seconds(timing.groups()[4:])
        texts = (_text(line) for line in lines[number + 1 : end])
        yield _Cue(start, max(start, finish), tuple(text for text in texts if text))


def _segments(cues: list[_Cue]) -> Iterator[Segment]:
    """Yield the segments without overlap: of two cues at once, the second one begins where it does."""
    shown: tuple[str, ...] = ()
    before = 0.0
    for number, cue in enumerate(cues):
        lines = _new_lines(cue, shown) if cue.start - before <= _TOUCHING_SECONDS else cue.lines
        following = cues[number + 1].start if number + 1 < len(cues) else cue.end
        if text := " ".join(lines):
            yield Segment(cue.start, max(cue.start, min(cue.end, following)), text, 0.0, 0.0)
        if cue.lines:
            shown, before = cue.lines, cue.end


def _new_lines(cue: _Cue, shown: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines that the cue before it did not show; only captions that roll up repeat its last lines."""
    if cue.end - cue.start <= _SHIFT_SECONDS and cue.lines == shown[-len(cue.lines) :]:
        return ()
    for count in range(min(len(cue.lines) - 1, len(shown)), 0, -1):
        if cue.lines[:count] == shown[-count:]:
            return cue.lines[count:]
    return cue.lines


def _text(line: str) -> str:
    """Return the words of a line: `<v Ada>Yes.</v>` is `Ada: Yes.`"""
    if "<" in line or "{" in line:
        line = _MARKUP.sub("", _VOICE.sub(r"\1: ", line))
    return " ".join(unescape(line).split())


def _title(text: str) -> str | None:
    """Return the text behind WEBVTT on the first line of a file."""
    first = text.partition("\n")[0]
    return cut_title(first.removeprefix("WEBVTT").strip(" \t-–—:")) or None if first.startswith("WEBVTT") else None


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0) + float(f"0.{fraction or 0}")
