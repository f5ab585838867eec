"""`sourcebook --server URL`: each command that an operation backs says and does what it does without."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.knowledge_base import KnowledgeBase
from tests.exported import link_model
from tests.integration.cli.command import Ran, run
from tests.integration.http_server import serving

READING = [
    ["search", "How long do the batteries last?"],
    ["search", "winters", "--mode", "keyword", "--facets", "--neighbours", "1", "--filter", "kind=file", "--all"],
    ["context", "How long do the batteries last?", "--tokenizer", "bound", "--max-tokens", "500"],
    ["similar", "battery.md", "-n", "3"],
    ["related", "battery.md"],
    ["diff", "battery.md", "battery.md"],
    ["show", "battery.md"],
    ["documents"],
    ["documents", "--failed", "--limit", "1"],
    ["status"],
    ["generations"],
    ["generations", "boat"],
    ["judge"],
    ["queries"],
    ["usage", "--by", "model"],
    ["llm-log"],
    ["llm-log", "--statistics"],
    ["uploads"],
    ["requests"],
    ["tag", "battery.md"],
]
"""Commands that change nothing."""
OF_THIS_MACHINE = [
    ["apply"],
    ["apply", "other.yaml"],
    ["ingest"],
    ["purge", "--dry-run"],
    ["export", "out"],
    ["key"],
    ["doctor"],
    ["backup", "file"],
    ["evaluate", "-c", "boat"],
    ["status", "--check"],
    ["show", "battery.md", "--srt"],
    ["generations", "activate", "1"],
]
MEASURED = {"took_ms", "search_ms", "boundary", "is_cached", "seconds"}
"""Fields that differ from one run to the next."""


@pytest.fixture
def served(
    boat: Path, database: Database, exported_model: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[str]]:
    """The options that name a server, whose key is in the environment; no database is known here."""
    with database.connection() as connection:
        _, key = create_key(connection, "desk", ["admin", "unredacted"], actor="tests")
    link_model(exported_model, boat / ".sourcebook")
    location = DatabaseLocation.find(boat / ".sourcebook")
    with KnowledgeBase(Database(location)) as knowledge, serving(knowledge, requires_key=True) as client:
        monkeypatch.setenv("SOURCEBOOK_KEY", key)
        yield ["--server", f"http://127.0.0.1:{client.port}"]


def plain(value: Any) -> Any:
    """Return an answer without what differs from one run to the next."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items() if name not in MEASURED}
    return [plain(each) for each in value] if isinstance(value, list) else value


def answer(ran: Ran) -> Any:
    assert (ran.code, ran.err) == (0, "")
    return plain(json.loads(re.sub(r"sources-[0-9a-f]+", "sources", ran.out)))


def test_answers_are_those_of_this_machine(served: list[str]) -> None:
    """Also the order of the fields."""
    run("judge", "batteries", "battery.md")
    run("tag", "battery.md", "winter", "--set", "year=2024")
    for command in READING:
        here, there = (run(*options, *command, "--json") for options in ([], served))
        assert (command, answer(there)) == (command, answer(here))
        assert list(there.json) == list(here.json)


def test_people_read_the_same(served: list[str]) -> None:
    for command in (["show", "battery.md"], ["documents"], ["status"], ["generations"], ["tag", "battery.md"]):
        assert run(*served, *command) == run(*command)


def test_changes_are_made_there(served: list[str], tmp_path: Path) -> None:
    """Labels, judgments, uploads, removals and requests, each with the name of the key."""
    tagged = run(*served, "tag", "battery.md", "winter", "spare", "--set", "year=2024", "--json").json
    assert (tagged["given_tags"], tagged["given_metadata"]) == (["winter", "spare"], {"year": 2024})
    assert run(*served, "tag", "battery.md", "--remove", "winter", "--unset", "year", "--json").json["given_tags"] == [
        "spare"
    ]
    assert len(run(*served, "judge", "batteries", "battery.md", "--json").json["judgments"]) == 1
    (tmp_path / "note.md").write_text("# A note")
    sent = run(*served, "upload", "note.md", "-c", "boat", "--json").json
    assert (sent["uploads"][0]["name"], sent["work"]["asked_by"]) == ("note.md", "key desk")
    asked = sent["work"]["id"]
    assert run(*served, "requests", str(asked), "--cancel", "--json").json["requests"][0]["state"] == "cancelled"
    assert run(*served, "uploads", "-c", "boat", "--remove", "note.md").code == 0
    assert run("uploads", "--json").json == {"uploads": []}
    assert run(*served, "queries", "--forget").out == "Deleted 0 searches from the log.\n"


def test_sites_are_added_there(served: list[str]) -> None:
    """To a collection that is made where it is missing; the server reads no folder of this machine."""
    url = "https://tides.example/tables"
    added = {"sources": [{"collection": "tides.example", "place": url, "added": True}]}
    assert run(*served, "add", url, "--json").json == added
    again = run(*served, "add", url, "https://tides.example/moons", "-c", "tides.example", "--json").json
    assert [each["added"] for each in again["sources"]] == [False, True]
    kept = next(
        each for each in run(*served, "status", "--json").json["collections"] if each["name"] == "tides.example"
    )
    assert len(kept["sources"]) == 2
    refused = run(*served, "add", url, ".")
    assert (refused.code, refused.out) == (2, "")
    assert "a server reads no folder of this machine" in refused.err
    assert "declare" in run(*served, "add", url, "-c", "boat").err


def test_documents_are_removed_all_or_none(served: list[str]) -> None:
    """One that the server does not know stops the others, too."""
    assert run(*served, "remove", "battery.md", "nowhere.md").code == 2
    assert run("show", "battery.md", "--json").json["state"] == "ready"
    removed = run(*served, "remove", "battery.md", "--json").json["removed"]
    assert [item["collection"] for item in removed] == ["boat"]
    assert run("show", removed[0]["uri"], "--json").json["state"] == "removed"
    restored = run(*served, "remove", "--undo", removed[0]["uri"], "--json").json["restored"]
    assert restored == removed


def test_a_plan_is_of_the_settings_applied_last(served: list[str], boat: Path) -> None:
    """The file of this machine is none of the server's."""
    (boat / "sourcebook.yaml").write_text("nonsense")
    assert [each["name"] for each in run(*served, "plan", "--json").json["collections"]] == ["boat"]
    assert run("plan").code == 2


@pytest.mark.parametrize("command", OF_THIS_MACHINE, ids=" ".join)
def test_commands_of_this_machine_say_so(command: list[str]) -> None:
    """In one sentence, before anything is done."""
    ran = run("--server", "http://127.0.0.1:1", *command)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "works on the knowledge base of this machine and not with --server" in ran.err


def test_a_server_that_refuses_or_is_away(served: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is wrong, a server that is away and an address that is none are one sentence each."""
    monkeypatch.setenv("SOURCEBOOK_KEY", "sb_" + "x" * 40)
    refused = run(*served, "status", "--json")
    assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
    assert "key" in refused.err
    away = run("--server", "http://127.0.0.1:1", "search", "batteries")
    assert (away.code, away.out) == (1, "")
    assert "cannot be reached" in away.err
    assert run("--server", "nowhere", "search", "batteries").code == 2


def test_the_environment_names_a_server(served: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCEBOOK_SERVER", served[1])
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    assert run("search", "winters", "--json").json["results"]


def test_values_are_checked_before_they_are_sent() -> None:
    ran = run("--server", "http://127.0.0.1:1", "search", "batteries", "-n", "0")
    assert (ran.code, ran.err) == (2, "sourcebook: -n is 0; it must be 1 to 1,000\n")
