"""Subtitles read like a transcript: paragraphs under time stamps, each cue with its times."""

import pytest

from sourcebook.chunking.chunker import chunk_document
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer
from tests.unit.parsing.covering import assert_blocks_cover, texts
from tests.unit.parsing.drawn_files import CAPTIONS, SUBTITLES


def read(text: str, name: str = "a.srt") -> ParsedDocument:
    content = text.encode()
    document = parse(content, name=name, media_type=detect_media_type(name, content))
    assert_blocks_cover(document)
    return document


def times(document: ParsedDocument) -> list[tuple[float | None, float | None]]:
    return [(block.start_seconds, block.end_seconds) for block in document.blocks]


def test_subrip_is_read_with_its_times() -> None:
    """Numbers of cues, tags and positions go; a cue whose text is a number stays."""
    document = read(SUBTITLES)
    assert texts(document) == [
        "[0:01] The upper gates are never opened before the paddles are down.",
        "42",
        "[1:02:03] Good night.",
    ]
    assert times(document) == [(1.0, 4.5), (4.5, 7.0), (3723.25, 3725.0)]
    assert {block.kind for block in document.blocks} == {"speech"}
    assert document.language == "en"
    assert document.metadata["duration_seconds"] == 3725.0


def test_webvtt_is_read_with_its_voices() -> None:
    """Notes, styles, settings and names of cues go; entities are letters, and a voice stands before its words."""
    document = read(CAPTIONS, "a.vtt")
    assert document.markdown == (
        "[0:01] Ada: The upper gates are never opened & never tried before the paddles are down.\n\n"
        "[0:12] Ben: And who closes them?"
    )
    assert times(document) == [(1.0, 4.5), (4.5, 7.0), (12.25, 15.0)]
    assert document.title == "The lock keeper"


def test_captions_that_roll_up_are_kept_once() -> None:
    """Automatic captions show each line twice, and a cue of 10 ms in between."""
    document = read(
        "WEBVTT\n\n00:01.000 --> 00:03.000\nthe upper gates\n\n00:03.000 --> 00:03.010\nthe upper gates\n\n"
        "00:03.010 --> 00:05.000\nthe upper gates\nare<00:03.500><c> never</c> opened\n",
        "a.vtt",
    )
    assert document.markdown == "[0:01] the upper gates are never opened"


def test_words_that_are_said_twice_are_kept_twice() -> None:
    """Only captions that roll up repeat a line; a cue of its own is said."""
    document = read("1\n00:00:01,000 --> 00:00:02,000\nNo.\n\n2\n00:00:02,000 --> 00:00:03,000\nNo.\n")
    assert document.markdown == "[0:01] No. No."


def test_cues_come_in_order_of_time_and_do_not_overlap() -> None:
    """Two cues at once become two segments, the second one where it begins; an end before its start is the start."""
    document = read(
        "00:00:05,000 --> 00:00:04,000\nlast\n\n00:00:01,000 --> 00:00:04,000\nfirst\n\n"
        "00:00:02,000 --> 00:00:03,000\nsecond\n"
    )
    assert [text.rsplit(maxsplit=1)[-1] for text in texts(document)] == ["first", "second", "last"]
    assert times(document) == [(1.0, 2.0), (2.0, 3.0), (5.0, 5.0)]


def test_a_cue_may_hold_a_blank_line_and_lack_its_number() -> None:
    """Sloppy subtitles lose no words."""
    document = read("00:00:01,000 --> 00:00:02,000\none\n\ntwo\n00:00:02,000 --> 00:00:03,000\nthree\n")
    assert document.markdown == "[0:01] one two three"


@pytest.mark.parametrize("text", ["no cue at all\n", "WEBVTT\n\nNOTE nothing\n", "1\n00:00 -> 00:01\nwrong arrow\n"])
def test_without_cues_it_is_plain_text(text: str) -> None:
    """Nothing is lost of a file that only has the ending."""
    document = read(text, "a.vtt")
    assert document.markdown == text
    assert {block.kind for block in document.blocks} == {"paragraph"}


def test_passages_cite_their_times() -> None:
    """A passage of subtitles has the time span that a passage of a recording has."""
    cues = "".join(
        f"{n}\n00:{n // 60:02}:{n % 60:02},000 --> 00:{n // 60:02}:{n % 60:02},900\nSentence {n} of a keeper.\n\n"
        for n in range(120)
    )
    chunks = chunk_document(read(cues), title=None, tokens=128, overlap=16, tokenizer=bundled_tokenizer())
    assert len(chunks) > 1
    assert chunks[0].start_seconds == 0.0
    assert [chunk.end_seconds for chunk in chunks[:-1]] == [chunk.start_seconds for chunk in chunks[1:]]
    assert chunks[-1].end_seconds == 119.9
