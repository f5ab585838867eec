"""A passage of a document."""

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256


@dataclass(frozen=True)
class Chunk:
    """A passage: `text == repeated context + markdown[start_char:end_char]`, and its place.

    The repeated context is empty, or text from further up in the document with its line breaks: the header of the
    passage's table or the lead-in of its list.
    """

    ordinal: int
    """Place in the document, counted from 0."""
    text: str
    heading_path: tuple[str, ...]
    """Titles of the headings the passage stands under, outermost first."""
    anchor: str | None
    """GitHub's anchor of the nearest H1 to H3 that the heading path ends in, or else of the passage's first heading."""
    page: int | None
    """Page, slide or sheet the passage begins on, counted from 1."""
    start_char: int
    end_char: int
    token_count: int
    """Tokens of `embedding_text`, special tokens included."""
    embedding_text: str
    """What is embedded: title and headings, an empty line, the text."""
    start_seconds: float | None = None
    """Of a recording: when the passage begins, and where the one before ends."""
    end_seconds: float | None = None

    @cached_property
    def hash(self) -> bytes:
        """SHA-256 of text, heading path and anchor: the same wherever in the document the passage stands."""
        return sha256(json.dumps([self.text, self.heading_path, self.anchor]).encode()).digest()

    @cached_property
    def embedding_hash(self) -> bytes:
        """SHA-256 of the embedded text."""
        return sha256(self.embedding_text.encode()).digest()
