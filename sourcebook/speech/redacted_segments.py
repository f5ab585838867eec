"""Segments of a transcript with placeholders in the place of personal data and secrets."""

from collections.abc import Sequence
from dataclasses import replace

from sourcebook.model.transcript import Segment
from sourcebook.redaction.documents import DocumentRedaction, redact_document
from sourcebook.redaction.redactor import Redactor


def redacted_segments(redactor: Redactor, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return segments, redacted by their joined text.

    A value that two segments share, such as a number that is spoken across their border, is replaced in both.
    """
    joined, starts = "", []
    for segment in segments:
        starts.append(len(joined))
        joined += segment.text + " "
    redaction: DocumentRedaction = redact_document(redactor, joined)
    return tuple(
        replace(segment, text=redaction.passage(joined, segment.text, start, start + len(segment.text)).redacted.text)
        for segment, start in zip(segments, starts, strict=True)
    )
