"""Transcripts: what was said in a recording, as paragraphs under time stamps."""

import re
from collections.abc import Sequence

from sourcebook.model.document import Block, ParsedDocument
from sourcebook.model.time_span import stamp
from sourcebook.model.transcript import Segment

PAUSE_SECONDS = 2.0
"""A pause that begins a paragraph: between sentences speakers rest about a second, longer before another thought."""
LONG_SECONDS = 60.0
"""A paragraph of this length ends with its sentence, so that a stamp is never far."""
LONGEST_SECONDS = 120.0
"""And one of this length with its segment: speech may be written down without any full stop."""

_LAST_CHARACTERS = 8
_SENTENCE_END = re.compile(r"""[.!?…。！？।؟۔]["'”’»›」』）)\]*_]*\s*\Z""")


def parse_transcript(segments: Sequence[Segment], *, title: str | None, language: str | None) -> ParsedDocument:
    """Return the document of a recording: a block for each segment, the stamp of a paragraph in its first block.

    Args:
        segments: in order, without overlap; one without text is left out.
        title: as the recording's tags give it.
        language: the one spoken.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    length = 0
    paragraph = 0.0  # when it began
    for segment in segments:
        text = " ".join(segment.text.split())  # in one line behind a stamp nothing is read as a block of Markdown
        if not text:
            continue
        begins = not blocks or _begins_paragraph(segment, paragraph, blocks[-1], parts[-1])
        if begins:
            text = f"[{stamp(segment.start)}] {text}"
            paragraph = segment.start
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
