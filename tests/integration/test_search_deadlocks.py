"""Searches that the database ends because of a deadlock."""

from concurrent.futures import ThreadPoolExecutor

import psycopg

from tests.integration.stages import Stages
from tests.waiting import wait_until

WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


def test_a_search_in_a_deadlock_is_run_once_more(stages: Stages) -> None:
    """A session that locks the tables of documents and of entries, in the other order than a search, gets its locks."""
    stages.write("power.md", "# Batteries\n\nThe batteries are charged at noon.\n")
    stages.configure()
    stages.run()
    assert stages.found("batteries") == {"power.md"}
    with psycopg.connect(stages.database.url) as other, ThreadPoolExecutor(1) as searcher:
        other.execute("SET deadlock_timeout = '1min'")  # the search is the one that the database ends
        other.execute("LOCK TABLE sourcebook.document IN ACCESS EXCLUSIVE MODE")
        search = searcher.submit(stages.found, "batteries")
        wait_until(lambda: _number(stages, WAITS) == 1, what="the search waits")
        other.execute("LOCK TABLE sourcebook.search_entry IN ACCESS EXCLUSIVE MODE")
        other.commit()
        assert search.result(timeout=60) == {"power.md"}
    wait_until(
        lambda: _number(stages, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") >= 1
    )


def _number(stages: Stages, statement: str) -> int:
    (row,) = stages.rows(statement)
    (number,) = row.values()
    return int(number)
