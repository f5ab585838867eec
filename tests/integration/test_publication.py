"""The stages `chunks`, `embeddings` and `search_index`: what an edit costs, and what it leaves as it was."""

from tests.integration.stages import Stages

PARAGRAPHS = {
    "Harbour": "The gauge stands in the harbour, on the northern pier behind the old customs house. " * 3,
    "Power": "The batteries last ninety hours when the island's electricity fails in a winter gale. " * 3,
    "Levelling": "The benchmarks are levelled every September with the instrument from the society. " * 3,
}


def page(**changes: str) -> str:
    """Return a document of three sections, each a passage of its own."""
    sections = {**PARAGRAPHS, **changes}
    return "# Handbook\n\n" + "".join(f"## {title}\n\n{text}\n\n" for title, text in sections.items() if text)


CONFIGURATION = "collections:\n  handbook:\n    files: [{root: ./docs}]\n    chunking: {tokens: 64}\n"


def entries(stages: Stages) -> dict[int, str]:
    """Return the physical row of every entry by its chunk: an entry that was written again has another."""
    rows = stages.rows("SELECT chunk_id, entry.ctid::text AS place FROM search_entry entry")
    return {row["chunk_id"]: row["place"] for row in rows}


def test_an_edit_in_the_middle_keeps_the_rows_of_all_other_passages(stages: Stages) -> None:
    """Their ids, their entries and so their place in the index; only the changed text is embedded."""
    stages.write("a.md", page())
    stages.configure(CONFIGURATION)
    stages.run()
    before, places = stages.chunk_ids("a.md"), entries(stages)
    assert len(before) >= 3

    stages.write("a.md", page(Power="The generator was replaced in spring. " * 5))
    reports = stages.run()
    after = stages.chunk_ids("a.md")
    kept = before.keys() & after.keys()
    assert len(before) - len(kept) in {1, 2}, "the passages of one section went"
    assert {text: after[text] for text in kept} == {text: before[text] for text in kept}
    assert {after[text]: entries(stages)[after[text]] for text in kept} == {
        before[text]: places[before[text]] for text in kept
    }
    assert reports["embeddings"].extra == {"computed": len(after) - len(kept), "reused": len(kept)}
    assert reports["chunks"].added == len(after) - len(kept) == reports["search_index"].added
    assert reports["search_index"].removed == len(before) - len(kept)
    assert stages.document("a.md")["version"] == 2
    assert {hit.version for hit in stages.search("harbour")} == {2}
    assert stages.found("batteries") == set()
    stages.assert_sound()


def test_passages_that_only_moved_keep_their_rows_and_take_their_new_place(stages: Stages) -> None:
    stages.write("a.md", page())
    stages.configure(CONFIGURATION)
    stages.run()
    before = stages.chunk_ids("a.md")
    stages.write("a.md", page().replace("# Handbook\n\n", "# Handbook\n\nA preface that was not there before.\n\n"))
    reports = stages.run()
    after = stages.chunk_ids("a.md")
    moved = [text for text in before if text.startswith(("## Levelling", "The benchmarks"))]
    assert moved
    assert all(after[text] == before[text] for text in moved)
    assert reports["embeddings"].extra["computed"] <= 2
    (document,) = stages.rows(
        "SELECT markdown FROM parsed_content WHERE sha256 = %(key)s", key=stages.document("a.md")["content_sha256"]
    )
    for row in stages.rows("SELECT text, start_char, end_char FROM chunk"):
        assert document["markdown"][row["start_char"] : row["end_char"]] == row["text"]
    stages.assert_sound()


def test_equal_passages_of_one_document_stay_apart(stages: Stages) -> None:
    """They share a vector and keep a row each; taking one away leaves the other."""
    same = "The same warning stands here: never open the valve while the pump runs. " * 3
    stages.write("a.txt", f"{same}\n\n{same}\n\n{same}\n")
    stages.configure("collections:\n  handbook:\n    files: [{root: ./docs}]\n    chunking: {tokens: 50}\n")
    reports = stages.run()
    rows = stages.rows("SELECT id, ordinal, hash FROM chunk ORDER BY ordinal")
    assert len(rows) == 3
    assert len({row["hash"] for row in rows}) == 1
    assert reports["embeddings"].extra == {"computed": 1, "reused": 0}
    stages.assert_sound()

    stages.write("a.txt", f"{same}\n\n{same}\n")
    reports = stages.run()
    left = stages.rows("SELECT id, ordinal FROM chunk ORDER BY ordinal")
    assert {row["id"] for row in left} < {row["id"] for row in rows}
    assert [row["ordinal"] for row in left] == [0, 1]
    assert reports["search_index"].removed == 1
    stages.assert_sound()


def test_a_document_that_becomes_empty_leaves_the_index_and_comes_back(stages: Stages) -> None:
    stages.write("a.md", page())
    stages.write("b.md", "Another document.")
    stages.configure(CONFIGURATION)
    stages.run()
    entries_before = len(entries(stages))
    stages.write("a.md", "")
    reports = stages.run()
    assert stages.found("harbour") == set()
    assert reports["search_index"].removed == entries_before - 1
    assert (stages.item("a.md")["state"], stages.item("a.md")["version"]) == ("skipped", 2)
    stages.assert_sound()
    stages.write("a.md", page())
    reports = stages.run()
    assert reports["embeddings"].extra["computed"] == 0
    assert stages.found("harbour") == {"a.md"}
    assert stages.document("a.md")["version"] == 3
    stages.assert_sound()


def test_publishing_again_changes_nothing(stages: Stages) -> None:
    stages.write("a.md", page())
    stages.configure(CONFIGURATION)
    first = stages.run()
    places = entries(stages)
    for _ in range(2):
        again = stages.run()
        assert not any(report.worked for report in again.values())
        assert {name: report.version for name, report in again.items()} == {
            name: report.version for name, report in first.items()
        }
    assert entries(stages) == places


def test_going_back_to_an_older_text_embeds_nothing(stages: Stages) -> None:
    stages.write("a.md", page())
    stages.configure(CONFIGURATION)
    stages.run()
    stages.write("a.md", page(Power="The generator was replaced in spring. " * 5))
    stages.run()
    stages.write("a.md", page())
    reports = stages.run()
    assert reports["embeddings"].extra["computed"] == 0
    assert reports["embeddings"].extra["reused"] > 0
    assert reports["documents"].extra == {"reused": 1}
    assert stages.document("a.md")["version"] == 3


def test_a_new_title_in_the_file_name_alone_touches_no_chunk_row(stages: Stages) -> None:
    stages.write("gauge.txt", "The sensor stands in the harbour.\n")
    stages.configure(CONFIGURATION)
    stages.run()
    before = stages.rows("SELECT id, xmin FROM chunk")
    (stages.root / "gauge.txt").rename(stages.root / "barometer.txt")
    reports = stages.run()
    assert stages.rows("SELECT id, xmin FROM chunk") == before
    assert reports["embeddings"].extra == {"computed": 0, "reused": 0}
    assert [hit.title for hit in stages.search("sensor")] == ["barometer"]
    assert stages.document("barometer.txt")["version"] == 1


def test_a_document_with_kept_passages_under_a_new_title_leaves_no_damage_when_it_goes(stages: Stages) -> None:
    """A kept row is the one that was published, not the one that was cut in its place."""
    stages.configure(CONFIGURATION)
    for title in ("Handbook", "Manual"):
        path = stages.write("a.md", f"---\ntitle: {title}\n---\n{page()}")
        stages.run()
    assert stages.document("a.md")["title"] == "Manual"
    path.unlink()
    stages.run()
    assert not stages.pending().work
    stages.assert_sound()
