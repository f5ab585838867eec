"""Pasted texts as queries: what is rare in them finds the passage that answers, and a note says what was searched."""

from pathlib import Path

import pytest

from sourcebook.search.ranking.relevance import RELEVANT_FROM
from tests.integration.stages import Stages

DOCUMENTS = {
    "winch.md": "# Winch faults\n\n## DrumOverrunException: brake slipped\n\nThe brake pads are worn. Replace both and "
    "reset the counter.\n",
    "stacks.md": "# How to read a stack trace\n\nEach line of a stack trace names a class, a method, a file, a line; "
    "the exception in the thread stands first, the most recent call last in a traceback.\n",
    "logs.md": "# Log files\n\nEvery line of the log has a date, a time, a level such as INFO or ERROR, and the "
    "service that wrote it.\n",
    "mirror.md": "# Mirror\n\nA mirror that answers with certificate expired takes a new one from the vault, with "
    "renew-mirror.\n",
    "moorings.md": "# Moorings\n\nA visitor pays for a mooring by the night; dogs are kept on a lead on the pontoon.\n",
    "cafe.md": "# Café\n\nThe café opens at eight and sells bread, coffee and soup to the crews.\n",
}
JAVA = 'Exception in thread "main" org.harbour.DrumOverrunException: brake slipped\n' + "".join(
    f"\tat org.harbour.hoist.{name}.{verb}({name}.java:{line})\n"
    for name, verb, line in (
        ("Drum", "turn", 88),
        ("Cable", "pull", 17),
        ("Operator", "lift", 240),
        ("Main", "main", 9),
    )
)
PYTHON = (
    "Traceback (most recent call last):\n"
    '  File "/opt/harbour/hoist.py", line 12, in lift\n    drum.turn(weight, speed=limit)\n'
    '  File "/opt/harbour/drum.py", line 40, in turn\n    raise DrumOverrunException("brake slipped")\n'
    "DrumOverrunException: brake slipped\n"
)
LOG = "".join(
    f"2024-05-0{1 + number % 9} 12:{number % 60:02}:07 INFO service fetcher wrote file {number} in time\n"
    + ("2024-05-03 12:40:08 ERROR service fetcher: mirror said certificate expired\n" if number == 150 else "")
    for number in range(200)
)
LETTER = (
    "Dear harbour office, we arrived on Tuesday after a long and rather wet crossing, and were very glad of the calm "
    "water. My wife had been unwell since Sunday, and the children were tired, so we went to sleep at once. Yesterday "
    "we walked to the village and back. One question before we leave on Friday: must our dogs be kept on a lead on the "
    "pontoon, or may they run about there in the evening? With kind regards and many thanks for your friendly welcome, "
    "the crew of the yellow yawl."
)


@pytest.fixture(scope="module")
def harbour(shared_stages: Stages) -> Stages:
    """Six documents, read by all tests and changed by none."""
    for name, text in DOCUMENTS.items():
        shared_stages.write(name, text)
    shared_stages.configure()
    shared_stages.run()
    return shared_stages


@pytest.mark.parametrize(
    ("pasted", "expected", "says"),
    [
        (JAVA, "winch.md", "brake slipped"),
        (PYTHON, "winch.md", "DrumOverrunException: brake slipped"),
        (LOG, "mirror.md", "certificate expired"),
        (LETTER, "moorings.md", "must our dogs be kept on a lead"),
    ],
    ids=["Java", "Python", "log", "letter"],
)
def test_a_pasted_text_finds_what_it_is_about(harbour: Stages, pasted: str, expected: str, says: str) -> None:
    """The passage with its rare words is first and relevant, before the one about texts of its kind."""
    hits = harbour.search(pasted, min_relevance=None)
    assert [Path(hit.uri).name for hit in hits][:1] == [expected]
    assert hits[0].relevance > 3 * RELEVANT_FROM
    (note,) = [note for note in hits.notes if note.startswith("the query is long: of its ")]
    assert says in note


def test_a_text_of_any_usual_length_is_a_query(harbour: Stages) -> None:
    assert len(LOG) > 10_000
    assert len(harbour.search(JAVA + LOG * 7, min_relevance=None)) > 0


def test_a_short_question_is_searched_whole(harbour: Stages) -> None:
    assert harbour.search("Must dogs be kept on a lead?").notes == ()


def test_the_relevance_falls_down_a_page(harbour: Stages) -> None:
    """The passage that answers stands before many with the query's common words. It is the last test: it adds them."""
    for number in range(12):
        harbour.write(
            f"notes/{number}.md", f"# Visits {number}\n\nHow long is a visit? A visit is long, says {number}.\n"
        )
    harbour.run()
    hits = harbour.search("How long before the café opens for a visit?", limit=10)
    relevances = [hit.relevance for hit in hits]
    assert Path(hits[0].uri).name == "cafe.md"
    assert all(later <= first + 0.1 for at, first in enumerate(relevances) for later in relevances[at:])
