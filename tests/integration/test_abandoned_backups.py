"""What a killed backup leaves beside its place is deleted by the next one, and nothing else is."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
from psycopg.conninfo import make_conninfo

from sourcebook.transfer.backup import backup
from sourcebook.transfer.partial_file import partial_file, remove_abandoned
from tests.checkout import CHECKOUT
from tests.integration.stages import Stages
from tests.waiting import is_running, wait_until

PROGRAM = """\
import sys
from pathlib import Path
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.transfer.backup import backup
url, home, file = sys.argv[1:]
with Database(DatabaseLocation(Path(home), url)) as database:
    backup(database, Path(file))
"""


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_next_backup_deletes_what_a_killed_one_has_left(stages: Stages, tmp_path: Path) -> None:
    """Not while its process lives, though pg_dump has ended and the process is stopped."""
    stages.configure()
    folder = tmp_path / "backups"
    folder.mkdir()
    target = folder / "base.dump"
    url = make_conninfo(stages.database.url, application_name="sourcebook_backup")
    with stages.connection() as connection:
        with connection.transaction():
            connection.execute("LOCK TABLE finished_run IN ACCESS EXCLUSIVE MODE")
            process = psutil.Popen(
                [sys.executable, "-c", PROGRAM, url, str(tmp_path / "home"), str(target)],
                env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
                stderr=subprocess.DEVNULL,
            )
            wait_until(
                lambda: stages.rows(
                    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                ),
                what="pg_dump waits for a table",
            )
            (dump,) = process.children()
            process.send_signal(signal.SIGSTOP)
        (left,) = names(folder)
        wait_until(lambda: not is_running(dump.pid), what="pg_dump has ended")
        backup(stages.database, target)
        assert names(folder) == {left, "base.dump"}, "its process lives"
        process.kill()
        process.wait()
        assert backup(stages.database, target).bytes > 0
        assert names(folder) == {"base.dump"}


def test_files_of_others_stay(tmp_path: Path) -> None:
    """Those of other backups, of other programs, links, and what somebody has locked."""
    target = tmp_path / "base.dump"
    others = {".base.dump.new-12": b"notes", ".other.dump.new-12": b"PGDMP", ".base.dump.new-mine": b"PGDMP"}
    for name, content in others.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / ".base.dump.new-13").symlink_to(tmp_path / ".other.dump.new-12")
    (tmp_path / ".base.dump.new-14").mkdir()
    os.mkfifo(tmp_path / ".base.dump.new-15")
    kept = names(tmp_path)
    for name in (".base.dump.new-16", ".base.dump.new-17-ab01"):
        (tmp_path / name).write_bytes(b"PGDMP\1")
    with partial_file(target) as held:
        remove_abandoned(target)
        assert names(tmp_path) == {*kept, held.path.name}
    assert names(tmp_path) == kept
