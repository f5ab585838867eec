"""Judgments travel with an export, and an import restores them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import TransferError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.transfer.export import export_collections
from sourcebook.transfer.importing import import_collections
from sourcebook.transfer.judgments import JUDGMENTS, load_judgments
from tests.integration.stages import Stages


def test_judgments_travel_with_their_collection(
    stages: Stages, create_database: Callable[[str], str], tmp_path: Path
) -> None:
    """With grade and time; a file that holds something else is refused by its line."""
    stages.write("power.md", "# Power\n\nThe batteries last ninety hours in winter.")
    stages.configure()
    stages.run()
    power = stages.uri("power.md")
    stages.knowledge.judge("how long do the batteries last?", power, 2)
    stages.knowledge.judge("der “Pegel”", power, 0)
    export_collections(stages.database, tmp_path / "export", [stages.collection], ("parquet",))
    file = tmp_path / "export" / stages.collection / JUDGMENTS
    first, second = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert (first["query"], first["grade"], second["uri"]) == ("der “Pegel”", 0, power)
    location = DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))
    with Database(location) as database, KnowledgeBase(database) as other:
        import_collections(database, tmp_path / "export")
        assert other.judgments() == stages.knowledge.judgments()
        file.write_text('{"query": "seals", "uri": "file:///a.md", "grade": 1}\n', encoding="utf-8")
        with database.connection() as connection, pytest.raises(TransferError, match="line 1 is no judgment"):
            load_judgments(connection, stages.collection, file)
