"""Kill -9 while the embedded database is being made: the next command makes it."""

from contextlib import suppress

import psutil
import pytest

from benchmarks.harness.kills.processes import family
from tests.acceptance.workplace import Workplace
from tests.waiting import wait_until


@pytest.mark.parametrize(
    ("stage", "with_children"),
    [
        ("postgres.new-*/PG_VERSION", False),
        ("postgres.new-*/PG_VERSION", True),
        ("postgres/sourcebook.conf", True),
        ("postgres/postmaster.pid", True),
    ],
)
def test_a_database_half_made_is_made_whole(workplace: Workplace, stage: str, with_children: bool) -> None:
    """Killed as one of the server's files appears: the command alone, so that `initdb` goes on, or everything."""
    workplace.configure(handbook="docs")
    workplace.write("docs/a.md", "The tide is high.\n")
    with workplace.start("apply", "--json") as process:
        wait_until(
            lambda: any(workplace.home.glob(stage)) or process.poll() is not None, what=stage, seconds=60, every=0.001
        )
        doomed = family(process.pid)
        for one in doomed if with_children else doomed[:1]:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        process.communicate(timeout=60)
    assert set(workplace.json("apply")) == {"added", "changed", "groups", "unchanged", "removed", "rebuilt", "warnings"}
    (status,) = workplace.json("status")["collections"]
    assert (status["name"], status["stale"]) == ("handbook", 1)
    settings = (workplace.home / "postgres" / "postgresql.conf").read_text()
    assert settings.count("include_if_exists = 'sourcebook.conf'") == 1, "with Sourcebook's own settings"
