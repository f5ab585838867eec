"""What `ingest --ask`, `ingest --requests` and `requests` promise."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sourcebook.admin.work_requests import claim_work, end_work, record_progress
from sourcebook.database.database import Database
from tests.integration.cli.command import run

KEYS = [
    *("id", "collection", "kind", "arguments", "state", "stage", "done", "total", "failed", "error", "run_id"),
    *("worker", "asked_by", "cancel_asked", "revision", "asked_at", "started_at", "changed_at", "ended_at", "attempts"),
    "unread",
]


def test_work_is_asked_for_listed_and_cancelled(here: Path) -> None:
    """The configuration is applied first: a new collection can be asked for."""
    (asked,) = run("ingest", "boat", "--ask", "--only-failed", "--source", "docs", "--json").json["requests"]
    assert list(asked) == KEYS
    assert asked["arguments"] == {"sources": ["docs"], "only_failed": True}
    assert "only failed, docs" in run("requests").out
    assert [each["id"] for each in run("requests", "--state", "waiting", "-c", "boat", "--json").json["requests"]] == [
        1
    ]
    assert run("requests", "1", "--cancel", "--json").json["requests"][0]["state"] == "cancelled"
    assert "cancelled" in run("requests", "1").out
    assert run("requests", "--state", "waiting").out == "There is no such request.\n"
    assert run("ingest", "--requests").out == "No request waits.\n"


def test_a_request_is_followed_to_its_end(here: Path, database: Database) -> None:
    number = run("ingest", "--ask", "--json").json["requests"][0]["id"]
    with ThreadPoolExecutor(1) as thread, database.connection() as connection:
        following = thread.submit(run, "requests", str(number), "--follow")
        claim_work(connection, worker="host:1")
        for done in range(4):
            record_progress(connection, number, "documents", done, 3, 0)
            time.sleep(0.6)  # the command looks twice a second
        end_work(connection, number, "failed", "the disk is full")
        ran = following.result(60)
    assert ran.code == 1
    assert "running documents 3 of 3" in ran.err
    assert "the disk is full" in ran.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("requests", "--cancel"),
        ("requests", "--follow"),
        ("requests", "1", "-c", "boat"),
        ("requests", "7"),
        ("requests", "--state", "asleep"),
        ("requests", "-c", "boot"),
        ("requests", "0"),
        ("ingest", "--requests", "boat"),
        ("ingest", "--requests", "--force"),
        ("ingest", "--ask", "-c", "boot"),
    ],
)
def test_a_wrong_use_is_exit_code_2_and_one_sentence(here: Path, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert ran.code == 2, ran
    assert ran.out == ""
    assert ran.err


def test_where_nothing_was_ever_ingested_there_is_no_request(empty: Path) -> None:
    """Looking creates no knowledge base."""
    assert run("requests").out == "There is no such request.\n"
    assert run("requests", "1").code == 2
    assert not (empty / ".sourcebook").exists()
