"""Questions of known places: their rules, and the committed set."""

from collections import Counter
from random import Random

import numpy as np

from benchmarks.corpora.place_questions import drawn_run, read_questions
from benchmarks.corpora.place_recordings import KnownRecording
from benchmarks.corpora.spoken_scenes import Utterance, in_turn
from benchmarks.parts.places import is_near
from sourcebook.model.transcript import SAMPLE_RATE

PARAGRAPH = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz").replace("word", "plain")


def test_a_run_is_of_one_paragraph() -> None:
    """No question joins the end of a paragraph with the beginning of the next one."""
    text = f"{PARAGRAPH}\n\n{PARAGRAPH.upper()}"
    for seed in range(50):
        run = drawn_run(text, Random(seed), [])
        assert run is not None
        assert run in PARAGRAPH or run in PARAGRAPH.upper()
        assert len(run.split()) == 12


def test_a_run_whose_words_another_section_holds_is_no_question() -> None:
    """In whichever order it holds them."""
    held = PARAGRAPH.split()
    assert drawn_run(PARAGRAPH, Random(0), [set(held)]) is None
    assert drawn_run(PARAGRAPH, Random(0), [set(held[::2]), set(held[1::2])]) is not None
    assert drawn_run("( { [ < > ] } ) " * 9, Random(0), []) is None


def test_the_committed_set_has_one_place_each() -> None:
    questions = read_questions()
    assert Counter(each.part for each in questions) == {"work": 365, "report": 355}
    assert Counter(each.part for each in questions if each.page) == {"work": 215, "report": 215}
    assert len({(each.source, each.path, each.text) for each in questions}) == len(questions)
    for each in questions:
        assert [each.anchor, each.page, each.second].count(None) == 2, each


def test_a_recording_knows_when_its_clips_begin() -> None:
    clips = [Utterance(np.zeros(seconds * SAMPLE_RATE, np.float32), f"{seconds}", "en") for seconds in (2, 5)]
    recording = KnownRecording("talk.flac", in_turn(clips, 2, [3, 4]))
    assert list(recording.spoken) == [("2", 3.0), ("5", 9.0)]


def test_a_second_is_right_within_two() -> None:
    assert [is_near(cited, 9.0) for cited in (6.9, 7.0, 11.0, 11.1, None)] == [False, True, True, False, False]
