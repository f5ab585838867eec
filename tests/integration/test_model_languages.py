"""Documents in languages that the embedding model of their collection does not know."""

import json

from typer.testing import CliRunner

from sourcebook.admin.checks import KNOWN_LANGUAGES, run_checks
from sourcebook.admin.status import collection_statuses
from sourcebook.command.app import app
from tests.integration.stages import Stages

ENGLISH = "The harbour office opens at eight in the morning and closes when the last boat has been moored in summer {}."
GERMAN = "Das Hafenamt öffnet morgens um acht Uhr und schließt, sobald das letzte Boot im Sommer {} festgemacht hat."


def fill(stages: Stages, german: int) -> None:
    """Ingest three English documents, and some German ones."""
    for number in range(3):
        stages.write(f"office-{number}.md", ENGLISH.format(number))
    for number in range(german):
        stages.write(f"amt-{number}.md", GERMAN.format(number))
    stages.configure()
    stages.run()


def test_languages_that_come_later_are_named_with_the_remedy(stages: Stages) -> None:
    """Status, its JSON and the check warn; an English collection has no warning."""
    fill(stages, german=0)
    assert "does not know" not in CliRunner().invoke(app, ["status"]).stdout
    for number in range(4):
        stages.write(f"amt-{number}.md", GERMAN.format(number))
    stages.run()
    with stages.connection() as connection:
        (status,) = collection_statuses(connection)
        outcomes = {one.name: one for one in run_checks(connection, stages.collection, thorough=False)}
    assert status.unknown_languages == {"de": 4}
    assert (outcomes[KNOWN_LANGUAGES].violations, outcomes[KNOWN_LANGUAGES].examples) == (4, ("de: 4",))
    shown = " ".join(CliRunner().invoke(app, ["status"]).stdout.split())
    assert "all-MiniLM-L6-v2 does not know the languages of some documents (4 in de)" in shown
    assert "set embedding: {model: multilingual-e5-small} in sourcebook.yaml" in shown
    (found,) = json.loads(CliRunner().invoke(app, ["status", "--json"]).stdout)["collections"]
    assert found["unknown_languages"] == {"de": 4}


def test_single_documents_count_as_mistakes(stages: Stages) -> None:
    """Language identification errs: two documents of a language are no warning."""
    fill(stages, german=2)
    with stages.connection() as connection:
        (status,) = collection_statuses(connection)
    assert status.unknown_languages == {}
