"""Kill -9 of `sourcebook up` and of each of its processes: it mends everything by itself, and leaves nothing behind."""

from pathlib import Path
from random import Random

import pytest

from benchmarks.harness.kills.drill import KINDS, service_drill
from benchmarks.harness.kills.home import COLLECTIONS, Home
from benchmarks.harness.library import Library
from tests.acceptance.test_kills import SEED
from tests.acceptance.workplace import Workplace

ROUNDS = 1
"""Kills of each kind; `python -m benchmarks kills` has many."""


@pytest.mark.timeout(900)
def test_kills_of_up_leave_no_trace(workplace: Workplace, exported_model: Path) -> None:
    """Each victim is replaced and named, and sensors are evaluated again.

    In the end, index and files agree, and no process, lock or run is left.
    """
    print(f"KILLS_SEED={SEED}")
    home = Home(Library.make(workplace.folder / "library", collections=COLLECTIONS), Random(SEED))
    Workplace(home.library.folder, home.library.home).take_model(exported_model)
    killed = []
    for outcome in service_drill(home, ROUNDS, quick=True):
        print(f"{outcome.kind:15}{outcome.seconds:6.1f} s {'; '.join(outcome.wrong)}")
        assert not outcome.wrong, (outcome, SEED)
        killed.append(outcome.kind)
    kills = dict.fromkeys(set(KINDS) - {"main process", "process group"}, ROUNDS)
    assert {kind: killed.count(kind) for kind in kills} == kills
