"""Transcripts of recordings, as paragraphs with time stamps."""

import re
from collections.abc import Sequence

from sourcebook.model.document import Block, BlockKind, ParsedDocument
from sourcebook.model.place import stamp
from sourcebook.model.transcript import Chapter, Segment

PAUSE_SECONDS = 2.0
"""Length of a pause that begins a paragraph: speakers rest about a second between sentences, longer between topics."""
LONG_SECONDS = 60.0
"""Length of a paragraph at which it ends with its sentence, so that a time stamp is never far."""
LONGEST_SECONDS = 120.0
"""Length of a paragraph at which it ends with its segment, for transcripts without full stops."""

_CHANNELS = {1: ", left", 2: ", right"}
"""Names of the channels behind a time stamp."""
_LAST_CHARACTERS = 8
"""Characters at the end of a text in which the end of its sentence is looked for."""
_MARKS = re.compile(r"[\\`*_\[\]<]|&(?=#?\w+;)")
_ESCAPED = r"\\\g<0>"
"""Replacement of a mark that Markdown reads, so that a title stays as it is."""
_SENTENCE_END = re.compile(r"""[.!?…。！？।॥؟۔։።។။]["'”’»›」』）)\]*_]*\s*\Z""")


def parse_transcript(
    segments: Sequence[Segment], *, title: str | None, language: str | None, chapters: Sequence[Chapter] = ()
) -> ParsedDocument:
    """Return the document of a recording: one block per segment, and a time stamp in a paragraph's first block.

    A chapter is a heading, before the first segment whose middle is in it.

    Args:
        segments: segments in order of time; segments without text are left out. One of another channel begins a
            paragraph, whose stamp names the channel.
        title: title in the recording's tags, or None.
        language: ISO 639-1 code of the spoken language, or None.
        chapters: chapters in order of time; without any speech there is no heading.
    """
    spoken = [segment for segment in segments if segment.text.split()]
    places = _places(spoken, chapters)
    written = _Written()
    paragraph = 0.0  # its start, in seconds
    channel: int | None = None
    for number, segment in enumerate(spoken):
        for chapter in places.get(number, ()):
            written.add_heading(chapter, min(chapter.start, segment.start))
        text = " ".join(segment.text.split())  # on one line behind a stamp, no text reads as a block of Markdown
        begins = segment.channel != channel or _begins_paragraph(segment, paragraph, written)
        if begins:
            text = f"[{stamp(segment.start)}{_CHANNELS.get(segment.channel or 0, '')}] {text}"
            paragraph, channel = segment.start, segment.channel
        written.add("speech", text, (segment.start, segment.end), begins=begins)
    for chapter in places.get(len(spoken), ()) if spoken else ():
        written.add_heading(chapter, chapter.start)
    return ParsedDocument("".join(written.parts), tuple(written.blocks), title=title, language=language)


class _Written:
    """The blocks written so far."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        """White space and text of each block in turn."""
        self.blocks: list[Block] = []
        self._length = 0

    def add(
        self, kind: BlockKind, text: str, times: tuple[float, float], *, begins: bool, level: int = 0, title: str = ""
    ) -> None:
        separator = "" if not self.blocks else "\n\n" if begins else " "
        start = self._length + len(separator)
        self._length = start + len(text)
        self.parts += [separator, text]
        self.blocks.append(Block(kind, start, self._length, level, title, start_seconds=times[0], end_seconds=times[1]))

    def add_heading(self, chapter: Chapter, second: float) -> None:
        text = f"## {_MARKS.sub(_ESCAPED, chapter.title)}"
        self.add("heading", text, (second, second), begins=True, level=2, title=chapter.title)


def _places(spoken: Sequence[Segment], chapters: Sequence[Chapter]) -> dict[int, list[Chapter]]:
    """Return the chapters by the number of the segment that they begin before."""
    places: dict[int, list[Chapter]] = {}
    number = 0
    for chapter in chapters:
        while number < len(spoken) and (spoken[number].start + spoken[number].end) / 2 < chapter.start:
            number += 1
        places.setdefault(number, []).append(chapter)
    return places


def ends_sentence(text: str, end: int) -> bool:
    """Tell whether a sentence ends with `text[:end]`."""
    return _SENTENCE_END.search(text, max(0, end - _LAST_CHARACTERS), end) is not None


def _begins_paragraph(segment: Segment, paragraph: float, written: _Written) -> bool:
    before = written.blocks[-1] if written.blocks else None
    if before is None or before.kind == "heading":
        return True
    if before.end_seconds is not None and segment.start - before.end_seconds >= PAUSE_SECONDS:
        return True
    spoken, said = segment.start - paragraph, written.parts[-1]
    return spoken >= LONGEST_SECONDS or (spoken >= LONG_SECONDS and ends_sentence(said, len(said)))
