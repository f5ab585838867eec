"""Dagster's programs, in containers, too: `python -m orchestration.dagster_process SCRIPT ARGUMENT...`.

Dagster's imports make a million objects that stay. Looking for garbage among them, at the start and once more at the
end, takes half of the processor time of a start. This module is imported first in each process, and in those that the
code server starts for runs: `multiprocessing` imports the main module again in its children.
"""

import gc
import sys
from importlib.metadata import entry_points
from typing import Final

from sourcebook.processes.garbage import skip_last_look

_THRESHOLDS: Final = (50_000, 20, 100)
"""New objects until the collector looks at them; such looks until the next older ones are looked at, and the oldest."""

gc.set_threshold(*_THRESHOLDS)
skip_last_look()


def main() -> int:
    """Run the console script that the first argument names, found by its entry point: its file may lie anywhere."""
    del sys.argv[0]
    (script,) = entry_points(group="console_scripts", name=sys.argv[0])
    code: int = script.load()()
    return code


if __name__ == "__main__":
    sys.exit(main())
