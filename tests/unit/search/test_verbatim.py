"""Passages of one document: the one that says the query word for word stands first."""

import re
from dataclasses import replace

import pytest

from sourcebook.model.passage_part import PassagePart
from sourcebook.search.ranking.highlights import Highlight
from sourcebook.search.ranking.verbatim import PlacedPassage, Query, agreement, places_in_order

LENGTHS = {"sick": 3.0, "leave": 1.0, "certificate": 2.0, "doctor": 2.0}


def marked(text: str) -> list[Highlight]:
    """Highlight the words of `LENGTHS`, those in targets of links included."""
    return [
        Highlight(found.start(), found.end(), LENGTHS[found[0].lower()], found[0].lower())
        for found in re.finditer("|".join(LENGTHS), text, re.IGNORECASE)
    ]


def query(text: str) -> Query:
    return Query.of(text, marked(text))


def passage(
    text: str, *path: str, document: int = 1, sections: tuple[PassagePart, ...] = (), ordinal: int = 0
) -> PlacedPassage:
    return PlacedPassage(document, text, path, sections, marked(text), ordinal)


CONTENTS = passage("- [Sick leave](#sick-leave)\n- [Doctor](#doctor)\n", "Handbook")
SECTION = passage("## Sick leave\n\nStay at home.", "Handbook", "Sick leave")
OTHER = passage("## Doctor\n\nThe sick see one before they leave.", "Handbook", "Doctor")


def test_a_section_stands_before_the_table_of_contents() -> None:
    """A line of the contents says as much of the query as the heading, and is not what the query is about."""
    asked = query("Sick leave")
    assert agreement(asked, SECTION) > agreement(asked, CONTENTS) > agreement(asked, OTHER) == 0
    assert places_in_order(asked, [CONTENTS, OTHER, SECTION]) == [2, 0, 1]


def test_a_sentence_stands_before_its_words() -> None:
    """Stop words of the query may stand between its words, others not."""
    asked = query("a certificate of the doctor")
    loose = passage("The doctor wrote. No certificate, certificate, certificate.")
    whole = passage("Bring a certificate of the doctor.")
    assert places_in_order(asked, [loose, whole]) == [1, 0]
    assert places_in_order(asked, [passage("A certificate by any doctor."), loose]) == [0, 1]


def test_the_heading_of_a_joined_section_counts() -> None:
    text = "## Holidays\n\nAsk early.\n\n## Sick leave\n\nStay at home."
    place = text.index("## Sick")
    parts = (PassagePart(0, ("Handbook", "Holidays")), PassagePart(place, ("Handbook", "Sick leave")))
    joined = passage(text, "Handbook", sections=parts)
    assert agreement(query("sick leave"), joined) == 2
    assert agreement(query("sick leave"), passage(text, "Handbook")) == 1


def test_a_heading_of_fewer_other_words_is_nearer() -> None:
    asked = query("sick leave")
    longer = passage("## Sick leave of families abroad\n\nStay.", "Sick leave of families abroad")
    assert places_in_order(asked, [longer, SECTION]) == [1, 0]


def test_targets_of_links_are_not_read() -> None:
    """They part no sentence, and make none."""
    linked = passage("Take [sick](https://example.org/doctor) [leave](leave.html).")
    assert agreement(query("sick leave"), linked) == 1
    assert agreement(query("sick leave"), passage("See [here](sick-leave.html).")) == 0


def test_each_document_keeps_its_places() -> None:
    """Documents do not pass one another, however well their passages agree."""
    best = passage("## Sick leave\n\nElsewhere.", "Sick leave", document=2)
    assert places_in_order(query("sick leave"), [CONTENTS, OTHER, best, SECTION]) == [3, 0, 2, 1]


@pytest.mark.parametrize(
    "text", ["How long may I leave when sick, and which doctor writes a certificate?", "", "of the"]
)
def test_questions_on_meaning_keep_their_order(text: str) -> None:
    """Nothing says a long question word for word, and a query without known words asks for nothing."""
    assert places_in_order(query(text), [OTHER, CONTENTS, SECTION]) == [0, 1, 2]


def test_a_query_with_a_word_that_no_passage_holds_is_said_by_none() -> None:
    """The rarest word asks for more than the heading says, and the order by meaning stays."""
    asked = Query.of("Where is the sick leave hidden?", marked("sick leave"), unknown=4.0)
    assert agreement(asked, SECTION) == 0
    assert places_in_order(asked, [CONTENTS, OTHER, SECTION]) == [0, 1, 2]


def test_a_run_of_words_may_cross_the_border_of_two_passages() -> None:
    """The passage with more of it stands before one that holds all of the words apart from one another."""
    asked = query("leave of the sick. The doctor")
    loose = passage("The doctor wrote. Nobody was sick on leave.", ordinal=7)
    end = passage("Nobody knows the doctor of this leave of the sick.", ordinal=3)
    start = passage("## The doctor\n\nHe has a certificate.", ordinal=4)
    assert places_in_order(asked, [loose, start, end]) == [2, 0, 1]
    assert places_in_order(asked, [loose, replace(start, ordinal=5), end]) == [0, 1, 2]
    assert places_in_order(asked, [loose, replace(start, document_id=2), end]) == [0, 1, 2]
    assert places_in_order(asked, [loose, passage("He wrote to the doctor.", ordinal=4), end]) == [0, 1, 2]
    other_half = query("sick. The doctor writes a certificate")
    assert places_in_order(other_half, [loose, end, passage("The doctor, the certificate.", ordinal=4)]) == [2, 0, 1]
