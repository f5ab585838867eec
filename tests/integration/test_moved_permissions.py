"""Who may see what, moved by an export: the same documents for the same persons."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
import pyarrow.parquet as pq

from sourcebook.admin.audit import audit_events
from sourcebook.admin.permissions import record_groups
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import TransferError
from sourcebook.transfer.export import export_collections
from sourcebook.transfer.importing import import_collections
from sourcebook.transfer.manifest import MANIFEST, load_manifest
from tests.integration.stages import Stages

GROUPS = {
    "board": ["user:anna", "group:chairs"],
    "chairs": ["user:otto"],
    "contractors": ["user:eve"],
    "elsewhere": ["user:nobody"],
}
PERSONS = ("user:anna", "user:otto", "user:eve", "user:ben", "group:board", "group:chairs")


@pytest.fixture
def base(stages: Stages) -> Stages:
    """A collection for everyone but contractors, in part for the board, and one that takes its documents."""
    stages.write("open.md", "---\ntags: [policy]\n---\n# Open\n\nThe barnacle marks high water.")
    stages.write("board.md", "---\ntags: [policy]\n---\n# Board\n\nThe barnacle is sold for nine guilders.")
    folder = {"root": str(stages.root), "allowed": {"board*": ["group:board"], "**": ["everyone"]}}
    collections = {
        "copies": {"from": {"collection": "handbook", "tags": ["policy"]}},
        "handbook": {"files": [{**folder, "denied": ["group:contractors"]}]},
    }
    stages.configure(json.dumps({"collections": collections, "groups": GROUPS}))
    stages.run_all("handbook", "copies")
    return stages


@pytest.fixture
def other(base: Stages, create_database: Callable[[str], str], tmp_path: Path) -> Iterator[Stages]:
    with Database(DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))) as database:
        other = Stages(database, base.embedder, base.parsers, base.root, base.settle, base.speech_home)
        yield other
        other.close()


def export(base: Stages, folder: Path, *formats: str) -> Path:
    export_collections(base.database, folder, ["copies", "handbook"], formats or ("parquet",))
    return folder


def seen(stages: Stages) -> dict[str, Any]:
    """Return what each person finds, with scores."""
    return {
        person: [
            (hit.collection, hit.title, round(hit.score, 6))
            for name in ("copies", "handbook")
            for hit in stages.knowledge.search("barnacle guilders", name, limit=9, as_principals=[person])
        ]
        for person in PERSONS
    }


def test_persons_see_the_same_documents_in_another_base(base: Stages, other: Stages, tmp_path: Path) -> None:
    """Copies among them, which come before their originals; groups within groups come along, and no other ones."""
    imported = import_collections(other.database, export(base, tmp_path / "export"))
    assert (imported.groups, imported.known_groups) == (("group:board", "group:chairs", "group:contractors"), ())
    found = seen(other)
    assert found == seen(base)
    assert {title for _, title, _ in found["user:otto"]} == {"Open", "Board"}
    assert {title for _, title, _ in found["user:ben"]} == {"Open"}
    assert found["user:eve"] == []
    with other.connection() as connection:
        told = audit_events(connection, 1)[0]
        assert (told.action, told.details["group:chairs"]) == ("groups.change", {"added": ["user:otto"], "removed": []})
        assert not connection.execute("SELECT FROM group_member WHERE member = 'user:nobody'").fetchall()


def test_a_group_that_is_known_gets_no_further_members(base: Stages, other: Stages, tmp_path: Path) -> None:
    """They would see documents of this base that nobody has allowed to them."""
    with other.connection() as connection:
        record_groups(connection, {"board": ("user:ben",)})
    imported = import_collections(other.database, export(base, tmp_path / "export"))
    assert imported.known_groups == ("group:board",)
    found = seen(other)
    assert {title for _, title, _ in found["user:ben"]} == {"Open", "Board"}
    assert {title for _, title, _ in found["user:anna"]} == {"Open"}


def test_no_number_of_the_base_travels_and_no_person_without_need(base: Stages, tmp_path: Path) -> None:
    """Formats that nobody imports name no members of groups."""
    columns = pq.read_schema(export(base, tmp_path / "export") / "handbook" / "ledger" / "document.parquet").names
    assert "audience_id" not in columns
    assert load_manifest(export(base, tmp_path / "text", "markdown")).groups == {}


@pytest.mark.parametrize("groups", [{"board": ["user:anna"]}, {"group:x": ["anna"]}, {"user:anna": ["user:eve"]}])
def test_a_manifest_with_groups_that_are_none_is_refused(
    base: Stages, other: Stages, tmp_path: Path, groups: dict[str, list[str]]
) -> None:
    file = export(base, tmp_path / "export") / MANIFEST
    file.write_text(json.dumps({**json.loads(file.read_text()), "groups": groups}))
    with pytest.raises(TransferError, match="are none"):
        import_collections(other.database, tmp_path / "export")
    assert other.rows("SELECT FROM group_member") == []
