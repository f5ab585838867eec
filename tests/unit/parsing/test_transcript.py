"""A transcript reads as paragraphs under time stamps, and keeps the time of every segment."""

import json
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.model.document import Block, block_rows, blocks_of
from sourcebook.model.transcript import Chapter, Segment
from sourcebook.parsing.registry import TRANSCRIPT, parser_identities
from sourcebook.parsing.text.markdown import parse_markdown
from sourcebook.parsing.transcript import parse_transcript
from tests.unit.parsing.covering import assert_blocks_cover, texts


def said(start: float, end: float, text: str) -> Segment:
    return Segment(start, end, text, -0.2, 0.01)


def test_a_paragraph_begins_with_its_stamp_and_after_a_pause() -> None:
    """Segments of a paragraph stand side by side; the stamp is part of the first one's block."""
    document = parse_transcript(
        [said(750.9, 754.0, "Good evening."), said(754.5, 758.0, "Welcome back."), said(3750.0, 3752.5, "Later on.")],
        title="Harbour radio",
        language="en",
    )
    assert document.markdown == "[12:30] Good evening. Welcome back.\n\n[1:02:30] Later on."
    assert texts(document) == ["[12:30] Good evening.", "Welcome back.", "[1:02:30] Later on."]
    assert [(block.kind, block.start_seconds, block.end_seconds) for block in document.blocks] == [
        ("speech", 750.9, 754.0),
        ("speech", 754.5, 758.0),
        ("speech", 3750.0, 3752.5),
    ]
    assert (document.title, document.language) == ("Harbour radio", "en")


def test_another_channel_begins_a_paragraph() -> None:
    """Its stamp says which; speech on both channels alike has no name."""
    turns = [(0, 4, "Hello?", 1), (4.2, 6, "Good morning.", 2), (5, 8, "How are you?", 2), (7, 9, "Well.", 1)]
    segments = [Segment(start, end, text, -0.2, 0.01, "en", 0.9, channel) for start, end, text, channel in turns]
    document = parse_transcript([*segments, said(9.1, 10, "Bye.")], title=None, language="en")
    assert document.markdown == (
        "[0:00, left] Hello?\n\n[0:04, right] Good morning. How are you?\n\n[0:07, left] Well.\n\n[0:09] Bye."
    )


def test_a_chapter_is_a_heading_before_what_is_said_in_it() -> None:
    """A segment across its beginning belongs where its middle is; titles read as they are."""
    document = parse_transcript(
        [said(1, 5, "Welcome."), said(5, 9, "First the rope."), said(9.2, 11, "It is wet."), said(20, 22, "Bye.")],
        title="Harbour radio",
        language="en",
        chapters=[
            Chapter(0, "Intro"),
            Chapter(6.5, "Rope & *tar* &amp;"),
            Chapter(10.5, "Music"),
            Chapter(40, "Credits"),
        ],
    )
    assert document.markdown == (
        "## Intro\n\n[0:01] Welcome.\n\n## Rope & \\*tar\\* \\&amp;\n\n[0:05] First the rope. It is wet.\n\n"
        "## Music\n\n[0:20] Bye.\n\n## Credits"
    )
    headings = [block for block in document.blocks if block.kind == "heading"]
    assert [(one.level, one.title, one.start_seconds, one.end_seconds) for one in headings] == [
        (2, "Intro", 0, 0),
        (2, "Rope & *tar* &amp;", 5, 5),
        (2, "Music", 10.5, 10.5),
        (2, "Credits", 40, 40),
    ]
    assert [block.title for block in parse_markdown(document.markdown.encode()).blocks if block.level] == [
        one.title for one in headings
    ]
    assert_blocks_cover(document)
    assert parse_transcript([said(1, 2, " ")], title=None, language=None, chapters=[Chapter(0, "Intro")]).blocks == ()


def test_a_short_rest_begins_no_paragraph() -> None:
    """Speakers take breath between sentences."""
    document = parse_transcript(
        [said(0, 4, "One."), said(5.9, 8, "Two."), said(10, 12, "Three.")], title=None, language="en"
    )
    assert document.markdown == "[0:00] One. Two.\n\n[0:10] Three."


def test_a_long_paragraph_ends_with_a_sentence() -> None:
    """After a minute the next full stop ends it, and after two minutes the next segment, full stop or not."""
    words = [said(5.0 * n, 5.0 * n + 5, f"part {n}{'.' if n == 14 else ','}") for n in range(45)]
    stamps = [
        line[: line.index("]") + 1]
        for line in parse_transcript(words, title=None, language=None).markdown.split("\n\n")
    ]
    assert stamps == ["[0:00]", "[1:15]", "[3:15]"]


def test_full_stops_of_other_scripts_end_a_sentence() -> None:
    """Quotes and brackets may close behind them."""
    for ending in ("。", "!”", "؟", "।", ".»", "…"):
        segments = [said(0, 61, f"word{ending}"), said(61, 62, "more")]
        assert parse_transcript(segments, title=None, language=None).markdown.count("\n\n") == 1, ending


def test_a_silent_recording_is_an_empty_document() -> None:
    """Without words there is nothing to cut, and the language stays as given."""
    for segments in ([], [said(0, 1, " \n")]):
        document = parse_transcript(segments, title=None, language=None)
        assert (document.markdown, document.blocks, document.language) == ("", (), None)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 30), st.floats(0, 30), st.text(max_size=30) | st.sampled_from(["# a", "\n\n- b\n", "```\n"])
        )
    )
)
def test_speech_never_becomes_structure(spoken: list[tuple[float, float, str]]) -> None:
    """Whatever is said, a Markdown reader sees one paragraph for each stamp, and blocks leave out only white space."""
    segments, clock = [], 0.0
    for pause, length, text in spoken:
        segments.append(said(clock + pause, clock + pause + length, text))
        clock = segments[-1].end
    document = parse_transcript(segments, title=None, language=None)
    assert_blocks_cover(document)
    assert [block.start_seconds for block in document.blocks] == [part.start for part in segments if part.text.split()]
    paragraphs = document.markdown.split("\n\n") if document.markdown else []
    assert all(paragraph.startswith("[") and len(paragraph.splitlines()) == 1 for paragraph in paragraphs)
    read = parse_markdown(document.markdown.encode("utf-8", "ignore"))
    assert [block.kind for block in read.blocks] == ["paragraph"] * len(paragraphs)


def test_times_survive_the_database() -> None:
    """Rows of speech give back the same blocks, times to the last bit."""
    blocks = parse_transcript([said(0.1 + 0.2, 1 / 3, "a"), said(7, 9.98, "b")], title=None, language=None).blocks
    assert blocks_of(json.loads(json.dumps(block_rows(blocks)))) == blocks


def test_rows_of_other_documents_are_as_they_were() -> None:
    """Nothing is hashed anew because recordings have times."""
    blocks = [Block("paragraph", 0, 5, page=2), Block("heading", 6, 9, level=1, title="A", anchor="a")]
    assert block_rows(blocks) == [["paragraph", 0, 5, 0, "", 2], ["heading", 6, 9, 1, "A", None, "a"]]


def test_its_identity_is_known() -> None:
    """The stage `documents` finds the transcript's parser among the formats."""
    assert parser_identities()[TRANSCRIPT] == "transcript/1"


def test_a_hundred_hours_take_seconds() -> None:
    """Time grows with the length alone."""
    segments = [said(3.6 * n, 3.6 * n + 3.5, "Some words that somebody said,") for n in range(100_000)]
    begun = time.process_time()
    assert len(parse_transcript(segments, title=None, language="en").blocks) == 100_000
    assert time.process_time() - begun < 10
