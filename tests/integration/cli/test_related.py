"""What `sourcebook related` promises."""

from pathlib import Path

from tests.integration.cli.command import Ingest, run


def test_relations_are_listed_from_both_ends(here: Path, ingest: Ingest) -> None:
    head = "---\nsupersedes: battery\ntype: plan\n---\n"
    (here / "docs" / "sails.md").write_text(f"{head}# Sails\n\nSee [the anchor](anchor.md).\n")
    ingest(here / "sourcebook.yaml")
    assert "superseded by" in run("related", "battery.md").out
    found = run("related", "sails.md", "--kind", "supersedes", "--direction", "out", "--json").json["related"]
    assert [(each["kind"], each["title"], each["written"]) for each in found] == [
        ("supersedes", "Batteries", "battery")
    ]
    assert "anchor.md" not in run("related", "sails.md").out
    assert "not here" in run("related", "sails.md", "--dangling", "-n", "5", "-c", "boat").out
    (asked,) = run("ingest", "--type", "plan", "--ask", "--json").json["requests"]
    assert [Path(uri).name for uri in asked["arguments"]["documents"]] == ["sails.md"]
    refused = run("ingest", "--type", "spec", "-c", "boat")
    assert (refused.code, "no document of the type spec in boat" in refused.err) == (2, True)
    assert run("related", "nowhere.md").code == 2
    assert run("related", "sails.md", "-n", "0").code == 2


def test_nothing_is_related_before_the_first_ingest(empty: Path) -> None:
    assert run("related", "battery.md").code == 2
