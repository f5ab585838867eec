"""Every character of a document's content is in a passage, and a check says where that fails."""

from typing import Any

from sourcebook.admin.checks import CheckOutcome, run_checks
from sourcebook.model.selection import Selection
from tests.integration.stages import Stages

NAME = "every_character_is_in_a_passage"
ROWS = "| hour | level at the northern pier |\n| --- | --- |\n" + "".join(
    f"| {hour:02} | {hour * 7 % 50} centimetres above the datum |\n" for hour in range(60)
)


def outcome(stages: Stages) -> CheckOutcome:
    with stages.connection() as connection:
        (found,) = [outcome for outcome in run_checks(connection, stages.collection) if outcome.name == NAME]
    return found


def uncovered(stages: Stages) -> dict[str, Any]:
    rows = stages.rows("SELECT uri, uncovered FROM indexed_document JOIN document ON document.id = document_id")
    return {row["uri"]: row["uncovered"] for row in rows}


def test_what_lies_in_no_passage_is_counted_and_named(stages: Stages) -> None:
    """Where a parser's blocks forget a sentence, the check names the document and counts what is missing."""
    stages.write("whole.md", "---\ntitle: Front matter is no content\n---\n\n# Tides\n\nThe tide is high.\n")
    stages.write("code.py", "def read(gauge):\n    return gauge.level\n")
    stages.write("torn.md", "# Tides\n\nThe tide is high.\n\nThe gauge is lost.\n")
    stages.configure()
    stages.run()
    assert set(uncovered(stages).values()) == {0}
    assert outcome(stages) == CheckOutcome(NAME, 0, ())

    stages.rows(
        "UPDATE parsed_content SET blocks = blocks - -1 WHERE markdown LIKE %(text)s RETURNING 1",
        text="%gauge is lost%",
    )
    stages.rows("UPDATE indexed_document SET config_hash = 'other' RETURNING 1")
    stages.chunks(Selection(thorough=True))
    missing = len("Thegaugeislost.")
    assert uncovered(stages)[stages.uri("torn.md")] == missing
    assert outcome(stages) == CheckOutcome(
        NAME, 1, (f"{stages.uri('torn.md')}: {missing} characters are in no passage",)
    )

    stages.write("torn.md", "# Tides\n\nThe tide is high, and the gauge is found.\n")
    stages.run()
    assert outcome(stages).violations == 0


def test_the_rows_of_a_table_are_found_with_its_header(stages: Stages) -> None:
    """Every passage of a long table begins with its header in the database too, and its span tells its own rows."""
    stages.write("levels.md", f"# Levels\n\nAs read in March:\n\n{ROWS}")
    stages.configure()
    stages.run()
    document = stages.rows("SELECT markdown FROM parsed_content")[0]["markdown"]
    chunks = stages.rows("SELECT text, start_char, end_char FROM chunk ORDER BY ordinal")
    header = ROWS[: ROWS.index("| 00")]
    assert len(chunks) > 2
    assert chunks[0]["text"].startswith("# Levels\n\nAs read in March:\n\n| hour")
    for chunk in chunks[1:]:
        assert chunk["text"] == header + document[chunk["start_char"] : chunk["end_char"]]
        assert document[chunk["start_char"] :].startswith("| ")
    assert "".join(document[chunk["start_char"] : chunk["end_char"]] + "\n" for chunk in chunks) == document
    stages.assert_sound()
