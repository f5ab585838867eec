"""The window of a passage that answers a query best."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.search.page.snippets import MOST_CHARACTERS, snippet_span
from sourcebook.search.ranking.highlights import Highlight
from sourcebook.search.sentences import sentence_spans

FILLER = "Nothing of note happened on that day. "


def marked(text: str, **weights: float) -> list[Highlight]:
    """Highlight words of a text."""
    return [
        Highlight(found.start(), found.end(), weights[found[0].lower()], found[0].lower())
        for found in re.finditer("|".join(weights), text, re.IGNORECASE)
    ]


def snippet(text: str, **weights: float) -> str:
    start, end = snippet_span(text, marked(text, **weights))
    return text[start:end]


def test_the_snippet_is_where_the_words_are() -> None:
    """In whole sentences, and where the rarer words are rather than the first ones."""
    text = FILLER * 10 + "Sick leave needs a certificate. " + FILLER * 10 + "You may leave at five. " + FILLER
    found = snippet(text, sick=5.0, leave=2.0)
    assert found.startswith("Sick leave needs a certificate.")
    assert found.endswith(".")
    assert len(found) <= MOST_CHARACTERS


def test_a_word_counts_once_before_others() -> None:
    text = "Leave, leave and leave. " + FILLER * 12 + "Leave of the sick."
    assert snippet(text, sick=1.5, leave=1.0) == "Leave of the sick."


def test_lines_of_tables_stay_whole() -> None:
    rows = [f"| row {number} | value {number} |" for number in range(40)]
    text = "\n".join(["| name | value |", "|---|---|", *rows])
    text = text.replace("value 33", "torque 33")
    lines = snippet(text, torque=1.0).splitlines()
    assert lines[0] == "| row 33 | torque 33 |"
    assert set(lines) <= set(rows) | {lines[0]}


def test_a_long_sentence_is_cut_at_words_around_its_densest_part() -> None:
    text = "word " * 200 + "sick " + "word " * 3 + "leave " + "word " * 200
    found = snippet(text, sick=2.0, leave=2.0)
    assert "sick" in found
    assert "leave" in found
    assert len(found) <= MOST_CHARACTERS
    assert set(found.split()) == {"word", "sick", "leave"}


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_a_passage_without_text_has_no_snippet(text: str) -> None:
    assert snippet(text, x=1.0) == ""


@given(st.text("ab .\n。", max_size=900), st.data())
def test_a_snippet_is_a_short_part_with_the_weightiest_word(text: str, data: st.DataObject) -> None:
    """Whatever the text: within its bounds, and not without a word of the query where the passage has one."""
    places = [place for place, letter in enumerate(text) if letter == "b"]
    chosen = sorted(data.draw(st.sets(st.sampled_from(places), max_size=5))) if places else []
    highlights = [Highlight(place, place + 1, 1.0 + place, f"b{place}") for place in chosen]
    start, end = snippet_span(text, highlights)
    assert 0 <= start <= end <= len(text)
    assert end - start <= MOST_CHARACTERS
    if highlights:
        assert any(start <= each.start and each.end <= end for each in highlights)


@pytest.mark.parametrize("end", ["।", "॥", "؟", "۔", "։", "።", "။", "។"])
def test_sentences_end_with_the_signs_of_their_script(end: str) -> None:
    """Danda, the full stop of Urdu and others stand before white space, as a full stop does."""
    text = f"पहला वाक्य यहाँ है{end} दूसरा torque वाक्य{end} तीसरा वाक्य"
    starts = [text[start:stop] for start, stop in sentence_spans(text)]
    assert starts == [f"पहला वाक्य यहाँ है{end}", f"दूसरा torque वाक्य{end}", "तीसरा वाक्य"]
    assert len(sentence_spans(f"श्लोक{end}१{end}")) == 1
