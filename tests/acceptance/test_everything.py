"""Edits, uploads, pages and requests of three collections at once, with kills: nothing waits without bound."""

import tempfile
import time
from pathlib import Path
from random import Random

import pytest

from benchmarks.harness.constant_load import NAMES, ConstantLoad, Schedule
from benchmarks.harness.kills.up import started_up, wait_until_ready
from benchmarks.harness.library import Library
from benchmarks.harness.site_server import SiteServer
from benchmarks.parts.server import serving
from tests.acceptance.workplace import Workplace
from tests.waiting import wait_until

SECONDS = 10.0
"""Seconds of the load; `python -m benchmarks everything` has ten minutes."""


@pytest.mark.timeout(900)
def test_no_source_keeps_another_waiting(workplace: Workplace, exported_model: Path) -> None:
    """A file that was added while nothing ran is found beside one that never rests; then index and files agree."""
    library = Library.make(workplace.folder / "library", collections=NAMES)
    Workplace(library.folder, library.home).take_model(exported_model)
    site = workplace.folder / "site"
    site.mkdir()
    with SiteServer(site) as server, tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        load = ConstantLoad(library, site, server.url, Random(7))
        library.ingest()
        load.add_file("notes")
        with (
            started_up(library.configuration_path, library.environment, errors) as up,
            serving(library) as (load.server_port, _, _),
            library.database() as database,
        ):
            schedule = Schedule([*load.actions(is_quiet=False), (1.0, lambda: load.look(database))])
            wait_until_ready(up)
            begun = time.monotonic()
            while time.monotonic() - begun < SECONDS:
                schedule.run_due()
                time.sleep(0.1)  # the pace of the load
            up.program("watch").kill()
            growing = Schedule([*load.actions(is_quiet=False)[1:2], (1.0, lambda: load.look(database))])

            def others_are_found() -> bool:
                growing.run_due()
                return not load.waiting_beside_the_growing_file

            wait_until(others_are_found, every=0.2, seconds=300, what="every other change is searchable")
            wait_until(lambda: not load.differences(database), seconds=300, what="index and files agree")
            assert up.process.poll() is None
