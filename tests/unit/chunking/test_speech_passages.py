"""Passages of speech end where speakers pause, and their times tile the recording."""

import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.chunker import chunk_document
from sourcebook.chunking.tokenizer import Offsets
from sourcebook.model.document import ParsedDocument
from sourcebook.model.transcript import Chapter, Segment
from sourcebook.parsing.text.markdown import parse_markdown
from sourcebook.parsing.transcript import parse_transcript
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer

WORDS = "the tide is high and the lamps are lit"


def said(start: float, end: float, text: str = WORDS) -> Segment:
    return Segment(start, end, text, -0.2, 0.01)


def recording(segments: Sequence[Segment]) -> ParsedDocument:
    return parse_transcript(segments, title=None, language="en")


def chunks(document: ParsedDocument, *, title: str | None = None, tokens: int = 64, overlap: int = 0) -> list[Chunk]:
    return chunk_document(document, title=title, tokens=tokens, overlap=overlap, tokenizer=bundled_tokenizer())


def spans(found: Sequence[Chunk]) -> list[tuple[float | None, float | None]]:
    return [(chunk.start_seconds, chunk.end_seconds) for chunk in found]


def test_a_short_recording_is_one_passage() -> None:
    """It reaches from the first word to the last, and keeps its stamp."""
    (chunk,) = chunks(recording([said(3, 5), said(5, 8)]))
    assert chunk.text == f"[0:03] {WORDS} {WORDS}"
    assert (chunk.start_seconds, chunk.end_seconds, chunk.heading_path, chunk.anchor) == (3, 8, (), None)


def test_passages_of_chapters_name_them() -> None:
    """None reaches from one into the next one, a heading is never the end of a passage, and the times still tile."""
    segments = [said(2 * number, 2 * number + 2) for number in range(40)]
    chapters = [Chapter(0, "Tide"), Chapter(30, "Lamps"), Chapter(50, "Music"), Chapter(50.5, "Rope")]
    document = parse_transcript(segments, title=None, language="en", chapters=chapters)
    found = chunks(document, title="Harbour radio")
    titles = [chunk.heading_path for chunk in found]
    assert titles == sorted(titles, key=lambda path: ("Tide", "Lamps", "Rope").index(path[0]))
    assert all(one.end_seconds == other.start_seconds for one, other in pairwise(found))
    firsts = [found[titles.index((title,))] for title in ("Tide", "Lamps", "Rope")]
    assert [(one.start_seconds, one.text.splitlines()[0]) for one in firsts] == [
        (0, "## Tide"),
        (30, "## Lamps"),
        (50, "## Music"),
    ]
    assert not any(chunk.text.splitlines()[-1].startswith("#") for chunk in found)
    assert found[-1].end_seconds == 80


def test_passages_end_at_the_longest_pause() -> None:
    """Not at the last segment that fits, but where the speaker rests longest, once the passage is half full."""
    pauses = {2: 1.9, 4: 1.2, 5: 0.4}  # behind the third segment a passage of 64 tokens is not half full
    segments, clock = [], 0.0
    for number in range(12):
        segments.append(said(clock, clock + 2))
        clock += 2 + pauses.get(number, 0)
    first, *rest = chunks(recording(segments), tokens=80)
    assert first.text.count(WORDS) == 5
    assert (first.start_seconds, first.end_seconds) == (0, segments[5].start)
    assert rest[-1].end_seconds == segments[-1].end


def test_without_pauses_passages_end_with_a_sentence() -> None:
    """Between equal pauses a full stop decides, and without any the later place."""
    stops = [said(2.0 * n, 2.0 * n + 2, WORDS + ("." if n == 3 else ",")) for n in range(14)]
    assert chunks(recording(stops), tokens=64)[0].text.endswith(f"{WORDS}.")
    assert chunks(recording(stops), tokens=64)[0].text.count(WORDS) == 4
    plain = [said(2.0 * n, 2.0 * n + 2) for n in range(24)]
    assert chunks(recording(plain), tokens=64)[0].text.count(WORDS) == 6


def test_the_last_passage_is_no_crumb() -> None:
    """Where little is left over, the last two share it."""
    found = chunks(recording([said(2.0 * n, 2.0 * n + 2) for n in range(7)]), tokens=64)
    assert [chunk.text.count(WORDS) for chunk in found] in ([3, 4], [4, 3])


def test_nothing_is_repeated_whatever_the_configuration_says() -> None:
    """Overlap would give the same second to two passages."""
    document = recording([said(2.0 * n, 2.0 * n + 2) for n in range(40)])
    assert chunks(document, overlap=16) == chunks(document, overlap=0)


def test_a_segment_that_is_too_long_is_cut_inside() -> None:
    """At its sentences, with times by characters; other segments stay whole."""
    sentence = "Nobody took breath for a whole minute. "
    document = recording([said(0, 4), said(4, 64, (sentence * 30).strip()), said(64, 68)])
    found = chunks(document, tokens=48)
    assert found[0].text == f"[0:00] {WORDS}"
    assert (found[0].start_seconds, found[0].end_seconds) == (0, 4)
    inside = found[1:-1]
    assert len(inside) > 5
    assert all(chunk.text.startswith("Nobody") and chunk.text.endswith("minute.") for chunk in inside)
    second = 60 / (len(sentence) * 30 - 1)
    assert inside[1].start_seconds == pytest.approx(4 + second * len(f"{inside[0].text} "))
    assert found[-1].end_seconds == 68


def test_times_are_position_and_not_identity() -> None:
    """The same words later in the recording are the same passage, as on another page."""
    (early,) = chunks(recording([said(0.0, 2)]))
    (later,) = chunks(recording([said(0.9, 2.5)]))
    assert (early.hash, early.embedding_hash) == (later.hash, later.embedding_hash)
    assert spans([early]) != spans([later])


def test_other_documents_have_no_times() -> None:
    """Only what was spoken has."""
    assert spans(chunks(parse_markdown(b"# A\n\ntext\n"))) == [(None, None)]


class LetterTokenizer:
    """Counts letters and, as byte-pair encodings do, more of them in a part than in the whole."""

    max_tokens = 512
    special_tokens = 2
    splits_at_spaces = False

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        return [[(place, place + 1) for place in range(0, len(text), 2)] for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text) * 3 // 5 + 2 for text in texts]


def test_a_tokenizer_that_counts_parts_higher_cuts_no_segment() -> None:
    """Where a passage turns out too long, it is parted between segments."""
    document = recording([said(2.0 * n, 2.0 * n + 2) for n in range(40)])
    found = chunk_document(document, title=None, tokens=60, overlap=0, tokenizer=LetterTokenizer())
    starts = {block.start for block in document.blocks}
    assert all(chunk.start_char in starts and chunk.token_count <= 60 for chunk in found)
    assert len(found) > 20


spoken = st.lists(
    st.tuples(
        st.one_of(st.just(0.0), st.floats(0, 5)),
        st.floats(0, 30),
        st.one_of(
            st.integers(1, 12).map(lambda times: "tide " * times + "rose."),
            st.integers(30, 200).map(lambda times: "on and on " * times),
            st.text(st.sampled_from("abcdefgh .,!?-äßЖ日本😄\u0301\n"), max_size=60),
            st.integers(1, 600).map(lambda times: "x" * times),
        ),
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(spoken, st.none() | st.text(max_size=60), st.sampled_from([16, 17, 24, 40, 64, 128, 256]) | st.integers(16, 300))
def test_times_tile_and_segments_stay_whole(
    heard: list[tuple[float, float, str]], title: str | None, tokens: int
) -> None:
    """Text is the span, everything is covered once and in bounds, times tile, and only what is too long is cut."""
    segments, clock = [], 0.0
    for pause, length, text in heard:
        segments.append(said(clock + pause, clock + pause + length, text))
        clock = segments[-1].end
    document = recording(segments)
    found = chunks(document, title=title, tokens=tokens, overlap=20)
    text, blocks = document.markdown, document.blocks
    reached = 0
    for chunk in found:
        assert chunk.text == text[chunk.start_char : chunk.end_char]
        assert chunk.text.strip()
        assert chunk.start_char >= reached
        assert not text[reached : chunk.start_char].strip()
        assert chunk.token_count <= min(tokens, 256)
        reached = chunk.end_char
    assert not text[reached:].strip()
    assert bundled_tokenizer().count([chunk.embedding_text for chunk in found]) == [c.token_count for c in found]
    assert bool(found) == bool(blocks)
    if found:
        assert (found[0].start_seconds, found[-1].end_seconds) == (blocks[0].start_seconds, blocks[-1].end_seconds)
    assert all(before.end_seconds == after.start_seconds for before, after in pairwise(found))
    assert all((chunk.start_seconds or 0) <= (chunk.end_seconds or 0) for chunk in found)
    prefixes = {chunk.embedding_text.removesuffix(chunk.text) for chunk in found}
    above = max((bundled_tokenizer().count([prefix])[0] for prefix in prefixes), default=2)
    cuts = {chunk.start_char for chunk in found}
    for block in blocks:
        inside = [cut for cut in cuts if block.start < cut < block.end]
        alone = text[block.start : block.end]
        fits = above + bundled_tokenizer().count([alone])[0] - 2 <= min(tokens, 256)
        assert not inside or not fits or len(alone) > 12 * (min(tokens, 256) - above), alone


def test_ten_hours_take_seconds() -> None:
    """Time grows with the length alone, however the pauses lie."""
    document = recording([said(3.6 * n, 3.6 * n + 3.5) for n in range(10_000)])
    begun = time.process_time()
    found = chunks(document, tokens=256)
    assert time.process_time() - begun < 15
    assert found[-1].end_seconds == 3.6 * 9_999 + 3.5
