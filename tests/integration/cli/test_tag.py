"""What `sourcebook tag` promises."""

from pathlib import Path

from sourcebook.admin.audit import account, audit_events
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from tests.integration.cli.command import run


def test_tags_and_metadata_are_given_shown_and_taken_back(boat: Path) -> None:
    """What is given is added to what was; `show`, filters and searches know it at once."""
    given = run(
        "tag", "docs/battery.md", "winter", "two words", "--set", "owner=Jansen", "--set", "year=2024", "--json"
    )
    assert given.code == 0
    assert list(given.json) == ["document_id", "uri", "tags", "given_tags", "given_metadata", "given_title"]
    assert given.json["given_tags"] == ["winter", "two words"]
    assert given.json["given_metadata"] == {"owner": "Jansen", "year": 2024}
    more = run("tag", "battery.md", "spare", "--remove", "two words", "--unset", "owner", "--json").json
    assert (more["given_tags"], more["given_metadata"]) == (["winter", "spare"], {"year": 2024})
    assert run("show", "battery.md", "--json").json["given_tags"] == ["winter", "spare"]
    assert "by hand     winter, spare, year" in run("show", "battery.md").out
    found = run("search", "winters", "--mode", "keyword", "--filter", "tags=spare", "--json").json
    assert [hit["document_id"] for hit in found["results"]] == [more["document_id"]]
    looked = run("tag", "battery.md")
    assert "by hand     winter, spare" in looked.out
    assert "year: 2024" in looked.out


def test_wrong_usage_changes_nothing(boat: Path) -> None:
    assert run("tag", "battery.md", "--set", "owner").code == 2
    assert run("tag", "battery.md", "--set", "tags=a").code == 2
    assert run("tag", "battery.md", "t" * 101).code == 2
    assert run("tag", "nowhere.md", "winter").code == 2
    assert run("tag", "battery.md", "--json").json["given_tags"] == []


def test_each_change_is_in_the_audit(boat: Path) -> None:
    run("tag", "battery.md", "winter")
    run("tag", "battery.md", "winter")
    run("remove", "docs/battery.md")
    with Database(DatabaseLocation.find(boat / ".sourcebook")) as database, database.connection() as connection:
        done = [(event.actor, event.action) for event in audit_events(connection)]
    assert done == [(account(), "document.remove"), (account(), "document.change")]
