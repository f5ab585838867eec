"""`sourcebook upload` and `sourcebook uploads`."""

from pathlib import Path

import pytest

from sourcebook.database.database import Database
from sourcebook.knowledge_base import KnowledgeBase
from tests.integration.cli.command import Ingest, run


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("SOURCEBOOK_UPLOADS", raising=False)
    return tmp_path / ".sourcebook" / "uploads"


def test_uploads_are_sent_listed_and_removed(boat: Path, database: Database, ingest: Ingest, store: Path) -> None:
    (boat / "knots.md").write_text("# Knots\n\nA bowline holds the walrus.\n")
    (boat / "tides.md").write_text("# Tides\n\nThe barnacle line marks high water.\n")
    sent = run("upload", "knots.md", "tides.md", "-c", "boat", "--tag", "sea", "--json").json
    assert [each["name"] for each in sent["uploads"]] == ["knots.md", "tides.md"]
    assert sent["work"]["arguments"]["documents"] == [each["uri"] for each in sent["uploads"]]
    assert sum(path.is_file() for path in store.rglob("*")) == 2

    (boat / "knots.md").write_text("# Knots\n\nA sheet bend holds the narwhal.\n")
    again = run("upload", "knots.md", "-c", "boat")
    assert again.out.splitlines()[0] == f"{sent['uploads'][0]['uri']}: version 2"
    assert "Next: sourcebook ingest boat" in again.out
    assert "has these bytes already" in run("upload", "tides.md", "-c", "boat").out
    ingest(boat / "sourcebook.yaml")
    with KnowledgeBase(Database(database.location)) as knowledge:
        (hit,) = knowledge.search("narwhal", mode="keyword", filters={"tags": ["sea"]})
        assert hit.uri == sent["uploads"][0]["uri"]

    listed = run("uploads", "-c", "boat")
    assert "2 uploads" in listed.out
    assert "knots.md" in listed.out
    removed = run("uploads", "-c", "boat", "--remove", "knots.md", "--json").json
    assert removed["removed"][0]["removed_at"] is not None
    assert [each["name"] for each in run("uploads", "--json").json["uploads"]] == ["tides.md"]
    assert run("uploads", "-c", "boat", "--remove", "knots.md").code == 2
    ingest(boat / "sourcebook.yaml")
    assert run("documents", "--json").out.count("upload://") == 1
    assert run("purge", "--yes", "--json").json["purged"]["uploads"] == 2
    assert sum(path.is_file() for path in store.rglob("*")) == 1


def test_standard_input_and_other_names(boat: Path) -> None:
    typed = run("upload", "-", "-c", "boat", "--name", "notes/typed.md", "--json", stdin="# Typed\n\nA gull.\n")
    assert [(each["name"], each["bytes"]) for each in typed.json["uploads"]] == [("notes/typed.md", 17)]
    (boat / "a.md").write_text("# A\n")
    assert run("upload", "a.md", "-c", "boat", "--name", "b.md", "--json").json["uploads"][0]["name"] == "b.md"


def test_mistakes_are_named(boat: Path) -> None:
    (boat / "a.md").write_text("# A\n")
    (boat / "void.md").write_text("")
    for arguments, said in (
        (("upload", "missing.md", "-c", "boat"), "missing.md is no file"),
        (("upload", "-", "-c", "boat"), "--name"),
        (("upload", "a.md", "void.md", "-c", "boat", "--name", "x"), "--name belongs to one file"),
        (("upload", "a.md", "-c", "nowhere"), "nowhere"),
        (("upload", "a.md", "-c", "boat", "--name", "../a"), "is a path such as"),
        (("uploads", "--remove", "a.md"), "-c NAME"),
    ):
        ran = run(*arguments)
        assert ran.code == 2, arguments
        assert said in " ".join(ran.err.replace("│", " ").split())
    assert run("upload", "void.md", "-c", "boat").code == 1
    assert run("uploads", "--json").json == {"uploads": []}


def test_nothing_is_made_by_looking(empty: Path) -> None:
    (empty / "a.md").write_text("# A\n")
    assert run("uploads", "--json").json == {"uploads": []}
    assert run("upload", "a.md", "-c", "boat").code == 2
    assert not (empty / ".sourcebook").exists()
