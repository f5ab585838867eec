"""What `sourcebook permissions` promises."""

import json
from pathlib import Path

from tests.integration.cli.command import Ingest, run


def limited(here: Path) -> Path:
    """Write permissions and groups into the configuration."""
    folder = {"root": "./docs", "allowed": {"battery*": ["group:board"]}, "denied": ["user:eve"]}
    content = {"collections": {"boat": {"files": [folder]}}, "groups": {"board": ["chairs"], "chairs": ["user:anna"]}}
    file = here / "sourcebook.yaml"
    file.write_text(json.dumps(content))
    return file


def test_the_table_and_the_reasons(here: Path, ingest: Ingest) -> None:
    """Nobody, too, is named; the way over groups and what denies are said in words."""
    ingest(limited(here))
    table = run("permissions").out
    assert "group:board" in table
    assert "nobody" in table
    answered = run("permissions", "--as", "user:anna", "--json").json["permissions"]
    assert {(*each["allowed"], each["answer"]["is_seen"]) for each in answered} == {("group:board", True), (False,)}
    shown = run("permissions", "battery.md", "--as", "user:anna").out
    assert "allowed: group:board" in shown
    assert "denied: user:eve" in shown
    assert f"the pattern battery* of the source {here / 'docs'} of boat says so" in " ".join(shown.split())
    assert "Seen: allowed to group:board; user:anna belongs to group:chairs, that to group:board." in " ".join(
        shown.split()
    )
    assert "Not seen: denied to user:eve." in run("permissions", "battery.md", "--as", "user:eve").out
    assert "Not seen: nobody of these is allowed." in run("permissions", "battery.md", "--as", "everyone").out
    (found,) = run("permissions", "battery.md", "-c", "boat", "--json").json["permissions"]
    assert (found["allowed"], found["reasons"][0]["pattern"], found["answer"]) == (["group:board"], "battery*", None)
    assert run("permissions", "nowhere.md").code == 2
    assert run("permissions", "--as", "anna").code == 2
    assert run("permissions", "-c", "nowhere").code == 2


def test_apply_names_groups_with_other_members(here: Path) -> None:
    file = limited(here)
    assert run("apply", "--dry-run", "--json").json["groups"] == ["group:board", "group:chairs"]
    assert "groups    group:board, group:chairs" in run("apply").out
    file.write_text(file.read_text().replace("user:anna", "user:otto"))
    assert run("apply", "--json").json["groups"] == ["group:chairs"]


def test_nobody_sees_anything_before_the_first_ingest(empty: Path) -> None:
    assert "There are no documents." in run("permissions").out
    assert run("permissions", "battery.md").code == 2
