"""How long removed rows are kept, and that nothing of them is left afterwards."""

from datetime import timedelta

import pytest

from sourcebook.admin.items import list_items
from sourcebook.admin.removal import purge, purgeable
from sourcebook.admin.retention import forget_removed
from sourcebook.contract.listing import DocumentsRequest
from tests.integration.stages import Stages
from tests.integration.test_attachments import message

HELD = (
    *("raw_file", "document", "parsed_content", "attachment", "chunk", "indexed_document", "search_entry"),
    *("keyword_entry", "embedding", "recording", "transcript", "transcript_window", "transcribed_file"),
    *("changed_item", "changed_document", "processing", "lexeme WHERE entries > 0"),
    "listed_folder WHERE digest IS NOT NULL",
)


def held(stages: Stages) -> dict[str, int]:
    return {table: stages.rows(f"SELECT count(*) AS number FROM {table}")[0]["number"] for table in HELD}


def removed_files(stages: Stages, **days: int) -> None:
    """Ingest files, then remove each so many days ago, beside one that stays."""
    for name in ("live", *days):
        stages.write(f"{name}.md", f"# {name}\n\nThe text of {name}.\n")
    stages.run()
    for name in days:
        (stages.root / f"{name}.md").unlink()
    stages.run()
    for name, age in days.items():
        for table in ("document", "raw_file"):
            stages.rows(
                f"UPDATE {table} SET removed_at = now() - make_interval(days => {age}) WHERE uri = %(uri)s RETURNING 1",
                uri=stages.uri(f"{name}.md"),
            )


def nights(stages: Stages, number: int) -> None:
    """Let retention have looked on each of the last nights."""
    stages.rows(
        "INSERT INTO retention_night SELECT current_date - nth FROM generate_series(1, %(number)s) AS nth RETURNING 1",
        number=number,
    )


def names(stages: Stages) -> set[str]:
    return {row["uri"].rpartition("/")[2] for row in stages.rows("SELECT uri FROM document")}


def test_a_collection_has_a_retention_of_its_own(stages: Stages) -> None:
    """Its setting goes before the age for all; without either its removed rows stay."""
    stages.configure("collections: {handbook: {files: [{root: ./docs}], retention: {removed: 30d}}}")
    removed_files(stages, month=31, week=7)
    nights(stages, 7)
    counts = forget_removed(stages.database, timedelta(days=3))
    assert counts is not None
    assert counts["documents"] == 1
    assert names(stages) == {"live.md", "week.md"}
    stages.configure()
    assert not any((forget_removed(stages.database, None) or {}).values())
    assert (forget_removed(stages.database, timedelta(days=3)) or {})["documents"] == 1


def test_a_clock_that_is_ahead_makes_nothing_old_at_once(stages: Stages) -> None:
    """Seven nights must have seen a removed row, whatever its age by the clock; nights of the future do not count."""
    stages.configure()
    removed_files(stages, lately=400)  # as a clock sees it that is ahead by 400 days
    stages.rows(
        "INSERT INTO retention_night SELECT current_date + 300 + nth FROM generate_series(1, 9) AS nth RETURNING 1"
    )
    for before in range(7):
        stages.rows("INSERT INTO retention_night VALUES (current_date - %(nth)s) RETURNING 1", nth=before + 1)
        counts = forget_removed(stages.database, timedelta(days=30)) or {}
        assert counts.get("documents", 0) == (before == 6)


def test_purge_deletes_by_age(stages: Stages) -> None:
    """The counts are of the older ones alone, and the younger one comes back without work."""
    stages.configure()
    removed_files(stages, old=40, young=10)
    with stages.connection() as connection:
        counted = purgeable(connection, timedelta(days=30))
        assert purgeable(connection).documents == 2
        removed = {
            item.uri: item.removed_at
            for item in list_items(connection, DocumentsRequest(removed=True))
            if item.removed_at
        }
    assert set(removed) == {stages.uri("old.md"), stages.uri("young.md")}
    assert purge(stages.database, older_than=timedelta(days=30)) == counted
    assert (counted.documents, counted.files, counted.parsed_contents, counted.embeddings) == (1, 1, 1, 1)
    assert names(stages) == {"live.md", "young.md"}
    stages.write("young.md", "# young\n\nThe text of young.\n")
    assert stages.run()["embeddings"].extra.get("computed", 0) == 0
    assert stages.found("young") == {"young.md"}


@pytest.mark.parametrize("kind", ["message", "copy", "broken"])
def test_nothing_of_a_purged_document_is_left(stages: Stages, kind: str) -> None:
    """Content, attachments, chunks, entries, marks and vectors: every table is as if the document had never been."""
    stages.configure()
    stages.write("flag.md", "# Flag\n\nThe flag is green.\n")
    stages.run()
    before = held(stages)
    content: dict[str, bytes] = {
        "message": message("We spoke of the mast.", {"note.md": "# Anchor\n\nThe anchor is in five fathoms.\n"}),
        "copy": b"# Flag\n\nThe flag is green.\n",
        "broken": b"PK\x03\x04 this is no archive" + bytes(50),
    }
    names = {"message": "minutes.eml", "copy": "copy.md", "broken": "broken.docx"}
    path = stages.write(f"more/{names[kind]}", content[kind])
    stages.run()
    assert held(stages)["document"] > before["document"]
    path.unlink()
    stages.run()
    purge(stages.database)
    stages.run()
    assert held(stages) == before
    assert stages.found("flag") == {"flag.md"}
    stages.assert_sound()
