"""A result cites the section of its passage that answers, wherever the passage begins."""

from tests.integration.stages import Stages

HANDBOOK = """# Handbook

## Leave policy

Ask your manager before you book a journey.

## Parental leave

Parents may stay at home for a year.

## Sick leave

Write to the office before nine in the morning.
"""


def test_the_section_that_answers_is_cited(stages: Stages) -> None:
    """Three sections share a passage: each question leads to its own heading and anchor."""
    stages.write("handbook.md", HANDBOOK)
    stages.configure()
    stages.run()
    (chunk,) = stages.rows("SELECT anchor, parts FROM chunk")
    assert (chunk["anchor"], len(chunk["parts"])) == ("handbook", 4)
    for query, anchor, title in (
        ("sick leave", "sick-leave", "Sick leave"),
        ("parental leave", "parental-leave", "Parental leave"),
        ("when must I write to the office?", "sick-leave", "Sick leave"),
        ("booking journeys", "leave-policy", "Leave policy"),
    ):
        (hit,) = stages.search(query)
        assert (hit.anchor, hit.heading_path[-1]) == (anchor, title), query
        assert [section.anchor for section in hit.sections] == [
            "handbook",
            "leave-policy",
            "parental-leave",
            "sick-leave",
        ]


def test_parts_follow_an_edit_that_keeps_the_passage(stages: Stages) -> None:
    """A heading of the same title further up numbers the anchor of a section anew: the row of its passage stays."""
    long = "The journey is booked by the office, which keeps the tickets and the receipts of all. " * 12
    stages.write("handbook.md", f"# Journeys\n\n{long}\n\n{HANDBOOK}")
    stages.configure()
    stages.run()
    places = "SELECT id, parts -> -1 ->> 2 AS anchor FROM chunk WHERE text LIKE '%%## Sick leave%%nine in the morning.'"
    (before,) = stages.rows(places)
    assert before["anchor"] == "sick-leave"
    stages.write("handbook.md", f"# Journeys\n\n## Sick leave\n\n{long}\n\n{HANDBOOK}")
    stages.run()
    (after,) = stages.rows(places)
    assert (after["id"], after["anchor"]) == (before["id"], "sick-leave-1")
    assert stages.search("write to the office before nine")[0].anchor == "sick-leave-1"
    stages.assert_sound()


def test_a_heading_stands_before_a_passage_that_repeats_its_words(stages: Stages) -> None:
    """Keyword search ranks the repetitions first; the section with the query in its heading is cited first."""
    filler = "The ferry leaves at noon and the harbour is quiet in winter. " * 40
    text = (
        "# Guide\n\n## Questions\n\nOf leave, of the sick, of leave, of the sick: leave and sick, sick and leave.\n\n"
        f"{filler}\n\n## Sick leave\n\nWrite to the office before nine.\n\n{filler}\n"
    )
    stages.write("handbook.md", text)
    stages.configure()
    stages.run()
    for query, anchor in (("sick leave", "sick-leave"), ("sick leave of unheardof", "questions")):
        first, *_ = stages.search(query, mode="keyword")
        assert first.anchor == anchor, query


def test_a_section_behind_the_first_ten_takes_the_place_of_its_document(stages: Stages) -> None:
    """Its words stand there once, in a long passage; the contents of its page and twelve other pages repeat them."""
    filler = " ".join(f"value{number} of the table is read from the left." for number in range(18))
    contents = "\n".join(f"- [angular conversion {number}](#angular-conversion)" for number in range(6))
    stages.write("math.md", f"# Mathematics\n\n{contents}\n\n## Angular conversion\n\n{filler}\n")
    for number in range(12):
        stages.write(f"other-{number}.md", f"# Page {number}\n\nAngular units and their conversion. " * 4)
    stages.configure()
    stages.run()
    found = stages.search("angular conversion", mode="keyword", limit=20, min_relevance=0)
    first, *others = [hit for hit in found if hit.uri.endswith("/math.md")]
    assert (first.anchor, first.heading_path[-1]) == ("angular-conversion", "Angular conversion")
    assert first.keyword_rank is not None
    assert first.keyword_rank > 10 > found.results.index(first)
    assert others


def test_words_across_the_border_of_two_passages_are_cited_where_they_stand(stages: Stages) -> None:
    """The end of one section and the beginning of the next one are asked for; another section has all words, apart."""
    filler = "The ferry leaves at noon and the harbour is quiet in winter. " * 40
    text = (
        "# Guide\n\n## Words\n\nThe doctor met pilot Anchor; his lantern has no compass. Anchor knows compass, pilot, "
        f"lantern, doctor. {filler}\n\n## Boats\n\n{filler} Ask for the pilot and the anchor.\n\n"
        f"## Lantern\n\nThe compass of the doctor. {filler}\n"
    )
    stages.write("handbook.md", text)
    stages.configure()
    stages.run()
    first, *_ = stages.search("pilot and the anchor. Lantern. The compass of the doctor", mode="keyword")
    assert (first.anchor, first.keyword_rank) == ("lantern", 2)


def test_a_hit_of_code_cites_its_lines_after_an_edit_above(stages: Stages) -> None:
    """Lines that come in above move the cited lines; the passage keeps its row and its vector."""
    source = "def moor(rope):\n    return rope\n\n\ndef anchor(depth):\n    return 'five fathoms of chain'\n"
    stages.write("quay.py", source)
    stages.configure()
    stages.run()
    (hit,) = stages.search("fathoms of chain", mode="keyword")
    assert (hit.heading_path, hit.anchor) == (("anchor",), "L5-L6")
    (before,) = stages.rows("SELECT id, anchor FROM chunk")
    stages.write("quay.py", f"\n\n\n{source}")
    assert stages.run()["embeddings"].extra.get("computed", 0) == 0
    (after,) = stages.rows("SELECT id, anchor FROM chunk")
    assert (before["id"], before["anchor"]) == (after["id"], "L1-L6")
    assert after["anchor"] == "L4-L9"
    (hit,) = stages.search("fathoms of chain", mode="keyword")
    assert (hit.anchor, [section.anchor for section in hit.sections]) == ("L8-L9", ["L4-L5", "L8-L9"])
    (hit,) = stages.search("fathoms of chain", mode="keyword", neighbours=1)
    assert [part.anchor for part in hit.parts] == ["L4-L9"]
    stages.assert_sound()
