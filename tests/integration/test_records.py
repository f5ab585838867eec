"""An export of issues: each is found, cited, filtered and edited like a file of its own."""

import io
import json
import zipfile
from typing import Any

from sourcebook.model.selection import Selection
from tests.integration.stages import Row, Stages

KEEPERS = ("Alma", "Brita", "Carl", "Dagny", "Egil", "Fride")


def issue(number: int, text: str = "") -> Row:
    keeper = KEEPERS[number % len(KEEPERS)]
    return {
        "number": number,
        "title": f"Winch {number} slips",
        "state": "open" if number % 2 else "closed",
        "opened_by": keeper,
        "tags": ["winch"],
        "body": text or f"Under load the winch of berth {number} slips by a hand's breadth.",
    }


def write(stages: Stages, issues: list[Row], name: str = "issues.json", **beside: Any) -> None:
    stages.write(name, json.dumps({**beside, "issues": issues}, indent=2))


def states(stages: Stages) -> dict[str, tuple[Any, ...]]:
    rows = stages.rows(
        "SELECT uri, id, version, updated_at FROM document WHERE removed_at IS NULL AND uri LIKE '%%/1%%'"
    )
    return {row["uri"].rpartition("/")[2]: (row["id"], row["version"], row["updated_at"]) for row in rows}


def test_an_export_is_a_document_a_record(stages: Stages) -> None:
    """Who opened issue 103 is found; an edit, another order and a removal change that record alone."""
    issues = [issue(number) for number in range(100, 108)]
    write(stages, issues, exported="2026-03-04")
    stages.write("crane.md", "# Crane\n\nWho opened the crane is an issue of the last meeting.\n")
    stages.configure()
    stages.run()
    first = stages.search("who opened issue 103?")[0]
    assert first.uri == stages.uri("issues.json/103")
    assert "opened_by: Brita" in first.text
    assert first.title == "Winch 103 slips"
    closed = stages.search("winch", filters={"metadata": {"state": "closed", "number": {"gte": 105}}})
    assert {hit.uri for hit in closed} == {stages.uri("issues.json/106")}
    assert stages.document("issues.json/100")["tags"] == ["winch"]
    assert not stages.pending().work
    stages.chunks()
    before = states(stages)

    write(stages, [*issues[:3], issue(103, "The winch of the ferry was oiled."), *issues[4:]])
    reports = stages.run()
    after = states(stages)
    assert {name for name in after if after[name] != before[name]} == {"103"}
    assert after["103"][:2] == (before["103"][0], 2)
    assert reports["embeddings"].extra["computed"] <= 2  # the issue, and the text of the file about its records
    assert stages.found("oiled") == {"103"}
    assert not stages.pending().work

    write(stages, [*issues[4:], *issues[:3]][::-1])
    reports = stages.run()
    assert reports["documents"].removed == 1
    assert reports["embeddings"].extra["computed"] == 1  # of the file, which has a record less
    del after["103"]
    assert states(stages) == after
    assert stages.found("oiled") == set()
    assert not stages.pending().work

    (stages.root / "issues.json").rename(stages.root / "tickets.json")
    stages.run()
    assert {name: row[0] for name, row in states(stages).items()} == {name: row[0] for name, row in after.items()}
    with stages.knowledge.original(stages.uri("tickets.json/105")) as original:
        assert json.loads(original.stream.read())["opened_by"] == "Dagny"
    related = stages.knowledge.related(stages.uri("tickets.json/105"))
    assert [each.kind for each in related] == ["part_of"]


def test_ids_that_are_no_paths_stay_apart(stages: Stages) -> None:
    """And one is read again without the others, as a retry reads it."""
    keys = ["a/b", "..", "../../etc", "é ü?#", "%2e"]
    held = [{"id": key, "text": f"The lamp {number} on the pier is dark."} for number, key in enumerate(keys)]
    stages.write("lamps.jsonl", "\n".join(map(json.dumps, held)))
    stages.configure()
    stages.run()
    assert {row["title"] for row in stages.rows("SELECT title FROM document WHERE uri LIKE '%%jsonl/%%'")} == {
        f"The lamp {number} on the pier is dark." for number in range(5)
    }
    assert stages.rows("SELECT 1 FROM document WHERE uri LIKE '%%jsonl/\\%%2E\\%%2E'")
    again = stages.documents(Selection(documents=(stages.uri("lamps.jsonl/%2e"),), force=True))
    assert (again.failed, again.extra.get("reused", 0)) == (0, 0)


def test_files_within_files_stay_one_document(stages: Stages) -> None:
    """Records of an export in an archive have no place of their own: its text is whole."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("issues.json", json.dumps([issue(number) for number in range(100, 105)]))
    stages.write("export.zip", packed.getvalue())
    stages.write("whole.json", json.dumps([issue(number, "The bell is silent.") for number in range(100, 105)]))
    folder = stages.root.name
    stages.configure(f"collections: {{handbook: {{files: [{{root: ./{folder}}}], parsing: {{records: never}}}}}}")
    stages.run()
    assert stages.found("103") == {"issues.json", "whole.json"}
    stages.configure()
    stages.run()
    assert stages.found("103") == {"issues.json", "103"}
    assert not stages.pending().work


def test_fields_at_the_top_of_a_data_file_are_those_of_front_matter(stages: Stages) -> None:
    """They give title, tags, type and the id by which others mean it."""
    gate = {"id": "SPEC-0007", "title": "Tide gate", "status": "accepted", "type": "spec", "tags": ["tides"]}
    stages.write("gate.json", json.dumps({**gate, "date": "2026-03-04", "requires": "SPEC-0003"}))
    stages.write("lock.yaml", "id: SPEC-0003\ntitle: The lock\ntype: spec\ntext: It opens at high water.\n")
    stages.configure()
    stages.run()
    row = stages.document("gate.json")
    assert (row["title"], row["tags"], row["metadata"]["status"]) == ("Tide gate", ["tides"], "accepted")
    (related,) = stages.knowledge.related(stages.uri("gate.json"))
    assert (related.kind, related.uri) == ("requires", stages.uri("lock.yaml"))
    assert {hit.uri for hit in stages.search("tide", filters={"types": ["spec"]})} == {
        stages.uri("gate.json"),
        stages.uri("lock.yaml"),
    }
