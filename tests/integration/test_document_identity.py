"""The stage `documents`: which file is which document, through renames, removals, returns and doubles."""

from sourcebook.model.selection import Selection
from tests.integration.stages import Stages

TIDE = "# Tide\n\nThe gauge stands in the harbour.\n\n## Power\n\nThe batteries last ninety hours.\n"


def test_a_renamed_file_stays_the_same_document(stages: Stages) -> None:
    """It keeps id, version, chunks and entries; nothing is parsed, cut or embedded."""
    stages.write("old.md", TIDE)
    stages.configure()
    stages.run()
    before, chunks, parsed = stages.document("old.md"), stages.chunk_ids("old.md"), stages.rows("TABLE parsed_content")
    (stages.root / "folder").mkdir()
    (stages.root / "old.md").rename(stages.root / "folder" / "new.md")

    reports = stages.run()
    documents = reports["documents"]
    assert (documents.added, documents.changed, documents.removed, documents.extra) == (0, 1, 0, {"renamed": 1})
    assert not any(reports[stage].worked for stage in ("chunks", "embeddings", "search_index"))
    after = stages.document("folder/new.md")
    assert (after["id"], after["version"]) == (before["id"], before["version"])
    assert stages.chunk_ids("folder/new.md") == chunks
    assert stages.rows("TABLE parsed_content") == parsed
    assert stages.found("batteries") == {"new.md"}


def test_a_renamed_file_without_a_title_takes_its_new_name(stages: Stages) -> None:
    """Its entries are found by the new name; no chunk row is touched."""
    stages.write("gauge.txt", "The sensor stands in the harbour.\n")
    stages.configure()
    stages.run()
    chunks = stages.chunk_ids("gauge.txt")
    (stages.root / "gauge.txt").rename(stages.root / "barometer_notes.txt")
    stages.run()
    assert stages.chunk_ids("barometer_notes.txt") == chunks
    assert stages.document("barometer_notes.txt")["title"] == "barometer notes"
    assert stages.found("barometer") == {"barometer_notes.txt"}
    assert stages.found("gauge") == set()


def test_files_that_swap_their_names_swap_their_content(stages: Stages) -> None:
    stages.write("a.md", "The flag is green.")
    stages.write("b.md", "The flag is white.")
    stages.configure()
    stages.run()
    (stages.root / "a.md").rename(stages.root / "c")
    (stages.root / "b.md").rename(stages.root / "a.md")
    (stages.root / "c").rename(stages.root / "b.md")
    reports = stages.run()
    assert reports["documents"].changed == 2
    assert reports["documents"].extra["reused"] == 2, "both texts were parsed before"
    assert (stages.found("white"), stages.found("green")) == ({"a.md"}, {"b.md"})
    stages.assert_sound()


def test_of_two_files_with_equal_content_one_may_go(stages: Stages) -> None:
    stages.write("first.md", TIDE)
    stages.write("second.md", TIDE)
    stages.configure()
    reports = stages.run()
    assert reports["documents"].extra == {"reused": 1}
    assert len(stages.rows("SELECT FROM parsed_content")) == 1
    assert stages.found("batteries") == {"first.md", "second.md"}
    kept = stages.document("second.md")["id"], stages.chunk_ids("second.md")

    (stages.root / "first.md").unlink()
    reports = stages.run()
    assert (reports["documents"].removed, reports["documents"].changed) == (1, 0)
    assert stages.found("batteries") == {"second.md"}
    assert (stages.document("second.md")["id"], stages.chunk_ids("second.md")) == kept
    stages.assert_sound()


def test_a_file_that_returns_comes_back_without_work(stages: Stages) -> None:
    stages.write("a.md", TIDE)
    stages.write("b.md", "Something else.")
    stages.configure()
    stages.run()
    before, parsed = stages.document("a.md"), stages.rows("SELECT sha256, parsed_at FROM parsed_content ORDER BY 1")
    (stages.root / "a.md").unlink()
    reports = stages.run()
    assert reports["documents"].removed == 1
    assert stages.found("batteries") == set()
    assert stages.document("a.md")["removed_at"] is not None

    stages.write("a.md", TIDE)
    reports = stages.run()
    documents = reports["documents"]
    assert (documents.added, documents.changed, documents.unchanged) == (1, 0, 1)
    assert documents.extra == {"returned": 1}
    assert reports["embeddings"].extra["computed"] == 0
    assert stages.found("batteries") == {"a.md"}
    after = stages.document("a.md")
    assert (after["id"], after["version"], after["removed_at"]) == (before["id"], 1, None)
    assert stages.rows("SELECT sha256, parsed_at FROM parsed_content ORDER BY 1") == parsed
    stages.assert_sound()


def test_a_file_that_returns_with_other_content_is_a_new_version_and_counted_once(stages: Stages) -> None:
    stages.write("a.md", TIDE)
    stages.write("b.md", "Something else.")
    stages.configure()
    stages.run()
    (stages.root / "a.md").unlink()
    stages.run()
    stages.write("a.md", "The batteries last ten hours.")
    documents = stages.run()["documents"]
    assert stages.document("a.md")["version"] == 2
    assert stages.found("ninety") == set()
    assert stages.found("batteries") == {"a.md"}
    assert documents.added + documents.changed == 1
    assert documents.unchanged == 1
    stages.assert_sound()


def test_the_same_bytes_in_two_collections_are_parsed_and_embedded_once(stages: Stages) -> None:
    stages.write("a.md", TIDE)
    stages.configure("collections:\n  handbook:\n    files: [{root: ./docs}]\n  copy:\n    files: [{root: ./docs}]\n")
    stages.run()
    stages.collection = "copy"
    reports = stages.run()
    assert reports["documents"].extra == {"reused": 1}
    assert reports["embeddings"].extra == {"computed": 0, "reused": 1}
    assert len(stages.rows("SELECT FROM parsed_content")) == 1
    assert {hit.collection for hit in stages.search("batteries")} == {"handbook", "copy"}
    assert {hit.collection for hit in stages.search("batteries", collections="copy")} == {"copy"}


def test_a_changed_tag_touches_no_chunk(stages: Stages) -> None:
    stages.write("a.md", TIDE)
    stages.configure()
    stages.run()
    before = stages.rows("SELECT chunk.*, chunk.xmin FROM chunk")
    stages.configure("collections:\n  handbook:\n    files: [{root: ./docs, tags: [policy]}]\n")
    assert stages.pending().work
    reports = stages.run()
    assert stages.document("a.md")["tags"] == ["policy"]
    assert stages.document("a.md")["version"] == 1
    assert stages.rows("SELECT chunk.*, chunk.xmin FROM chunk") == before
    assert not any(reports[stage].worked for stage in ("chunks", "embeddings", "search_index"))
    assert not stages.pending().work


def test_force_redoes_the_selected_document_and_changes_nothing(stages: Stages) -> None:
    stages.write("a.md", TIDE)
    stages.write("b.md", "Something else.")
    stages.configure()
    stages.run()
    chunks = stages.chunk_ids("a.md")
    parsed = {row["sha256"]: row["parsed_at"] for row in stages.rows("SELECT sha256, parsed_at FROM parsed_content")}
    reports = stages.run(Selection(documents=(stages.uri("a.md"),), force=True))
    again = {row["sha256"]: row["parsed_at"] for row in stages.rows("SELECT sha256, parsed_at FROM parsed_content")}
    assert [
        again[key] > parsed[key] for key in sorted(parsed, key=lambda key: key != stages.document("a.md")["input_hash"])
    ] == [True, False]
    assert reports["embeddings"].extra["computed"] == 0
    assert stages.document("a.md")["version"] == 1
    assert stages.chunk_ids("a.md") == chunks
    stages.assert_sound()
