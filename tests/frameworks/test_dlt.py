"""Real dlt as a source of records: an API written in the settings, and a module's own source, over a fake server."""

import json
import logging
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sourcebook.admin.collections import record_collection
from sourcebook.config.collection import CollectionSettings
from sourcebook.database.connecting import configure_session
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.stages.raw_files.source_records import fetch_records
from tests.frameworks.fake_api import TOKEN, FakeApi, serving

SINCE = {"params": {"since": {"type": "incremental", "cursor_path": "updated_at", "initial_value": "2000"}}}
DEEP = Selection(deep=True)


class Looks:
    """Looks at one source over the fake API, in a transaction that is rolled back at the end."""

    def __init__(self, connection: Any, api: FakeApi) -> None:
        self.connection = connection
        self.api = api

    def configure(self, **source: Any) -> None:
        written = {"name": "issues", "key": "id", "title": "title", "text": "body", **source}
        written = {name: value for name, value in written.items() if value is not None}
        settings = CollectionSettings.model_validate({"records": [written]})
        with self.connection.transaction():
            record_collection(self.connection, "api", settings)

    def rest(self, *more: dict[str, Any], endpoint: dict[str, Any] | None = None, **source: Any) -> None:
        paginator = {"type": "cursor", "cursor_path": "next", "cursor_param": "page_token"}
        auth = {"type": "bearer", "token": "${API_TOKEN}"}
        issues = {
            "name": "issues",
            "primary_key": "id",
            "endpoint": {"path": "issues", "data_selector": "items", **(endpoint or {})},
        }
        client = {"base_url": self.api.url, "auth": auth, "paginator": paginator}
        rest = {"client": client, "resources": [issues, *more], **source.pop("rest", {})}
        self.configure(rest=rest, **source)

    def look(self, selection: Selection = EVERYTHING) -> str | None:
        """Look, and return why the source could not be read."""
        self.api.asked.clear()
        fetch_records(self.connection, "api", selection)
        return self.state()["error"]  # type: ignore[no-any-return]

    def state(self) -> dict[str, Any]:
        row = self.connection.execute("SELECT record_state FROM source WHERE collection = 'api'").fetchone()
        return row[0]  # type: ignore[no-any-return]

    def texts(self) -> dict[int, str]:
        rows = self.connection.execute(
            "SELECT uri, convert_from(content, 'UTF8')::jsonb ->> 'text' FROM source_record"
            " JOIN source ON source.id = source_id WHERE collection = 'api' AND source_record.removed_at IS NULL"
        )
        return {int(uri.rpartition("/")[2]): text for uri, text in rows}


@pytest.fixture
def looks(served: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Looks]:
    """Waits between dlt's retries are left out, except those that a server asks for."""
    monkeypatch.setenv("RUNTIME__REQUEST_BACKOFF_FACTOR", "0")
    monkeypatch.setenv("API_TOKEN", TOKEN)
    url = os.environ["SOURCEBOOK_DATABASE_URL"]
    with (
        serving() as api,
        psycopg.connect(url, autocommit=True) as connection,
        connection.transaction(force_rollback=True),
    ):
        configure_session(connection)
        yield Looks(connection, api)


def test_changes_are_read_by_a_cursor_in_the_ledger_and_deletions_by_a_whole_listing(looks: Looks) -> None:
    """A look asks for what changed since the last one; an edit in its second is read; a deep look finds deletions."""
    for number in range(1, 8):
        looks.api.put(number, f"Text {number}", f"2024-01-0{number}")
    looks.rest(endpoint=SINCE)
    assert looks.look() is None
    assert looks.texts() == {number: f"Text {number}" for number in range(1, 8)}
    assert len(looks.api.asked) == 3, "the second and third page were asked for"

    looks.api.put(7, "Edited in its second", "2024-01-07")
    looks.api.put(8, "New", "2024-01-08")
    del looks.api.issues[1]
    assert looks.look() is None
    assert looks.api.asked == ["/issues?since=2024-01-07"]
    assert (looks.texts()[7], looks.texts()[8]) == ("Edited in its second", "New")
    assert 1 in looks.texts(), "only changes were listed"
    assert looks.look(DEEP) is None
    assert 1 not in looks.texts()


def test_a_failing_answer_removes_nothing_and_is_said(looks: Looks, caplog: pytest.LogCaptureFixture) -> None:
    """Waits and repeats are dlt's; what it gives up on leaves every record, and no message or log has the token."""
    caplog.set_level(logging.DEBUG)
    for number in range(1, 8):
        looks.api.put(number, f"Text {number}")
    looks.rest()
    looks.api.faults = ["429", "500", "broken"]
    assert looks.look() is None
    assert len(looks.texts()) == 7
    for fault, said in {
        "half": "JSONDecodeError",
        "expire": "401 Client Error",
        "error": "token_revoked",
        "errors": "rate limited",
        "circle": "go round in a circle",
    }.items():
        looks.api.faults = ["", fault]
        error = str(looks.look())
        assert said in error, error
        assert len(looks.texts()) == 7
        looks.api.faults, looks.api.tokens = [], {TOKEN}
    looks.api.tokens = set()
    assert "401" in str(looks.look())
    looks.api.tokens = {TOKEN}
    held, looks.api.issues = looks.api.issues, {}
    assert "it lists no record, where 7 were known" in str(looks.look())
    assert len(looks.texts()) == 7
    assert looks.look(Selection(accept=True)) is None
    assert looks.texts() == {}
    looks.api.issues = held
    assert looks.look() is None
    assert len(looks.texts()) == 7
    assert "s3cret" not in json.dumps(looks.state())
    assert "s3cret" not in caplog.text


def test_an_api_that_never_had_records_is_read(looks: Looks) -> None:
    """An empty list is an error only where there were some."""
    looks.rest()
    assert looks.look() is None
    looks.api.put(1, "Text")
    assert looks.look() is None
    assert looks.texts() == {1: "Text"}


def test_a_token_in_a_query_is_in_no_message(looks: Looks) -> None:
    looks.api.put(1, "Text")
    auth = {"type": "api_key", "name": "api_key", "api_key": "${API_TOKEN}", "location": "query"}
    client = {"base_url": looks.api.url, "auth": auth, "paginator": "single_page"}
    looks.configure(rest={"client": client, "resources": [{"name": "issues", "endpoint": {"data_selector": "items"}}]})
    assert looks.look() is None
    assert looks.texts() == {1: "Text"}
    looks.api.tokens = set()
    error = str(looks.look())
    assert "401" in error
    assert "s3cret" not in error


def test_children_become_lists_of_their_record(looks: Looks) -> None:
    """Comments are asked for by issue, and a template writes them into its document."""
    looks.api.put(1, "Text 1")
    looks.api.put(2, "Text 2")
    looks.api.comments = {2: ["high", "low"]}
    comments = {
        "name": "comments",
        "include_from_parent": ["id"],
        "endpoint": {
            "path": "issues/{resources.issues.id}/comments",
            "data_selector": "items",
            "paginator": "single_page",
        },
    }
    children = {"children": {"comments": "_issues_id"}}
    template = "{{ body }}{% for each in comments %} - {{ each.text }}{% endfor %}"
    looks.rest(comments, rest=children, text=None, template=template)
    assert looks.look() is None
    assert looks.texts() == {1: "Text 1", 2: "Text 2 - high - low"}
    looks.rest(comments)
    assert "resource: name the one with the records: issues, comments" in str(looks.look())
    looks.rest(comments, rest={"resource": "notes"})
    assert "it has no resource notes; it has issues, comments" in str(looks.look())


SOURCE = """
import dlt

@dlt.source
def crm(count):
    @dlt.resource
    def contacts(seen=dlt.sources.incremental("rank", initial_value=0)):
        for number in range(seen.last_value, count):
            yield {"id": number, "body": f"Contact {number}", "rank": number}

    @dlt.resource
    def others():
        raise AssertionError("it is not asked for")
        yield

    return contacts, others

@dlt.resource
def alone(token):
    raise RuntimeError(f"no {token}")
    yield
"""


def test_a_source_of_a_module_is_read_with_its_arguments(looks: Looks, tmp_path: Path) -> None:
    """Its own incremental arguments continue from the ledger; its errors are said without the secrets."""
    (tmp_path / "crm_of_tests.py").write_text(SOURCE)
    settings: dict[str, Any] = {"use": "crm_of_tests:crm", "folder": str(tmp_path), "resource": "contacts"}
    looks.configure(dlt={**settings, "arguments": {"count": 3}})
    assert looks.look() is None
    assert looks.texts() == {number: f"Contact {number}" for number in range(3)}
    assert '"last_value":2' in looks.state()["cursor"].replace(" ", "")
    assert looks.look() is None
    looks.configure(dlt={"use": "crm_of_tests:alone", "folder": str(tmp_path), "arguments": {"token": "${API_TOKEN}"}})
    assert looks.look() == "crm_of_tests:alone fails: RuntimeError: no ***"
    assert len(looks.texts()) == 3


def test_a_resource_alone_has_no_children(looks: Looks, tmp_path: Path) -> None:
    """The settings ask for lists of another resource; a function that is one resource alone is refused by name."""
    (tmp_path / "lone_of_tests.py").write_text(SOURCE)
    settings: dict[str, Any] = {"use": "lone_of_tests:alone", "folder": str(tmp_path), "arguments": {"token": "none"}}
    looks.configure(dlt={**settings, "children": {"comments": "issue"}})
    assert looks.look() == "children: lone_of_tests:alone is one resource; a source has them"


def test_random_changes_and_faults_leave_no_record_lost_doubled_or_stale(looks: Looks) -> None:
    """After 30 turns of edits, deletions, faults and clocks that go back, a whole look has what the API has."""
    chance = random.Random(46)
    looks.rest(endpoint=SINCE)
    for turn in range(30):
        for _ in range(chance.randrange(4)):
            key = chance.randrange(12)
            looks.api.issues.pop(key, None)
            if chance.random() < 0.7:
                looks.api.put(key, f"Text {turn} of {chance.random()}", f"2024-{chance.randrange(100, 1000)}")
        before = looks.texts()
        looks.api.faults = [chance.choice(("", "", "500", "broken", "half", "expire", "error", "back")) for _ in "1234"]
        is_whole = chance.random() < 0.4
        error = looks.look(Selection(deep=is_whole, accept=True))
        looks.api.faults, looks.api.tokens = [], {TOKEN}
        if error is not None:
            assert looks.texts().keys() >= before.keys()
        elif is_whole:
            assert looks.texts() == {key: each["body"] for key, each in looks.api.issues.items()}


def test_without_dlt_the_command_that_installs_it_is_named(looks: Looks, monkeypatch: pytest.MonkeyPatch) -> None:
    looks.rest()
    for name in [name for name in sys.modules if name.partition(".")[0] == "dlt"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if not (Path(each or ".") / "dlt").is_dir()])
    error = str(looks.look())
    assert "needs dlt, which is not installed" in error
    assert "[dlt]" in error
