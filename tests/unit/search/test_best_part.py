"""The best part of a passage: the section, the page and the time that a citation names."""

import re

import pytest

from sourcebook.model.passage_part import PassagePart
from sourcebook.search.page.best_part import best_part
from sourcebook.search.ranking.highlights import Highlight

POLICY = (
    "## Leave policy\n\nThis page says how to take leave.\n\n"
    "## Parental leave\n\nParents take up to a year of leave. Tell your manager early.\n\n"
    "## Sick leave\n\nStay at home and write to the office before nine.\n"
)


def sections(text: str) -> list[PassagePart]:
    """Return a part for each heading of the second level."""
    return [
        PassagePart(found.start(), ("Handbook", found[1]), found[1].lower().replace(" ", "-"))
        for found in re.finditer(r"## (.+)", text)
    ]


def marked(text: str, **weights: float) -> list[Highlight]:
    """Return the occurrences of words as highlights."""
    return sorted(
        (
            Highlight(found.start(), found.end(), weight, word)
            for word, weight in weights.items()
            for found in re.finditer(rf"\b{word}\b", text, re.IGNORECASE)
        ),
        key=lambda each: each.start,
    )


def test_the_section_of_the_answer_is_cited() -> None:
    """The words of a heading lead to its section, not to the first one, nor to where one of them is said more often."""
    found = best_part(POLICY, sections(POLICY), marked(POLICY, sick=2.0, leave=1.0))
    assert found.place is not None
    assert (found.place.anchor, found.place.heading_path) == ("sick-leave", ("Handbook", "Sick leave"))
    assert POLICY[slice(*found.snippet)] == "## Sick leave\n\nStay at home and write to the office before nine."


def test_a_heading_counts_with_the_signs_of_its_markdown() -> None:
    """Its title has neither the backticks nor the backslashes that stand in the text."""
    text = POLICY.replace("## Sick leave", "## *Sick* `leave\\_type`").replace("year of", "year of sick")
    parts = [*sections(text)[:2], PassagePart(text.index("## *Sick"), ("Handbook", "Sick leave_type"), "sick")]
    found = best_part(text, parts, marked(text, sick=2.0, leave=1.0))
    assert found.place is not None
    assert found.place.anchor == "sick"


def test_words_of_the_text_lead_to_their_section() -> None:
    found = best_part(POLICY, sections(POLICY), marked(POLICY, manager=2.0, leave=1.0))
    assert found.place is not None
    assert found.place.anchor == "parental-leave"
    assert "Tell your manager" in POLICY[slice(*found.snippet)]


def test_a_passage_keeps_its_place_where_no_word_answers() -> None:
    """Nothing says which of its sections a passage was found for by its vector alone."""
    assert best_part(POLICY, sections(POLICY), []).place is None
    assert best_part("one place", (), marked("one place", place=1.0)).place is None


def test_the_page_is_that_of_most_words() -> None:
    text = "The gauge is read at noon.\n\nThe tide turns. A keeper writes the tide of the gauge down."
    parts = [PassagePart(0, ("Log",), "log", 4), PassagePart(text.index("The tide"), ("Log",), "log", 5)]
    found = best_part(text, parts, marked(text, tide=2.0, gauge=1.0))
    assert found.place is not None
    assert (found.place.page, found.place.anchor) == (5, "log")


@pytest.mark.parametrize(
    ("word", "starts", "ends"), [("harbour", 0.0, 12.0), ("lamp", 12.0, 15.0), ("dusk", 15.0, 20.0)]
)
def test_the_time_begins_with_the_snippet(word: str, starts: float, ends: float) -> None:
    text = "The harbour is quiet at night, and nobody is on the pier. " * 6
    text += "The lamp is lit by hand each evening by the keeper. " + "At dusk the keeper goes home."
    lamp, dusk = text.index("The lamp"), text.index("At dusk")
    parts = [
        PassagePart(0, start_seconds=0.0, end_seconds=12.0),
        PassagePart(lamp, start_seconds=12.0, end_seconds=15.0),
        PassagePart(dusk, start_seconds=15.0, end_seconds=20.0),
    ]
    found = best_part(text, parts, marked(text, **{word: 1.0}))
    assert found.place is not None
    assert found.place.start_seconds == pytest.approx(starts, abs=0.5)
    assert (found.place.end_seconds or 0) >= ends
