"""Transcripts of recordings, as paragraphs with time stamps."""

import re
from collections.abc import Sequence

from sourcebook.model.document import Block, ParsedDocument
from sourcebook.model.time_span import stamp
from sourcebook.model.transcript import Segment

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
_SENTENCE_END = re.compile(r"""[.!?…。！？।॥؟۔։።។။]["'”’»›」』）)\]*_]*\s*\Z""")


def parse_transcript(segments: Sequence[Segment], *, title: str | None, language: str | None) -> ParsedDocument:
    """Return the document of a recording: one block per segment, and a time stamp in a paragraph's first block.

    Args:
        segments: Segments in order of time; segments without text are left out. One of another channel begins a
            paragraph, whose stamp names the channel.
        title: Title in the recording's tags, or None.
        language: ISO 639-1 code of the spoken language, or None.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    length = 0
    paragraph = 0.0  # its start, in seconds
    channel: int | None = None
    for segment in segments:
        text = " ".join(segment.text.split())  # on one line behind a stamp, no text reads as a block of Markdown
        if not text:
            continue
        begins = (
            not blocks or segment.channel != channel or _begins_paragraph(segment, paragraph, blocks[-1], parts[-1])
        )
        if begins:
            text = f"[{stamp(segment.start)}{_CHANNELS.get(segment.channel or 0, '')}] {text}"
            paragraph, channel = segment.start, segment.channel
        separator = "" if not blocks else "\n\n" if begins else " "
        start = length + len(separator)
        length = start + len(text)
        parts += [separator, text]
        blocks.append(Block("speech", start, length, start_seconds=segment.start, end_seconds=segment.end))
    return ParsedDocument("".join(parts), tuple(blocks), title=title, language=language)


def ends_sentence(text: str, end: int) -> bool:
    """Tell whether a sentence ends with `text[:end]`."""
    return _SENTENCE_END.search(text, max(0, end - _LAST_CHARACTERS), end) is not None


def _begins_paragraph(segment: Segment, paragraph: float, before: Block, said: str) -> bool:
    if before.end_seconds is not None and segment.start - before.end_seconds >= PAUSE_SECONDS:
        return True
    spoken = segment.start - paragraph
    return spoken >= LONGEST_SECONDS or (spoken >= LONG_SECONDS and ends_sentence(said, len(said)))
