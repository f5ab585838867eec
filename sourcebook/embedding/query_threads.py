"""With how many threads one question is embedded."""

from typing import Final

from sourcebook.processes.cores import usable_cores

# A small model answers a question as fast on one core as on two, and two threads wait for each other where other
# programs compute too: with torch the 95th percentile was 24 ms on one core and 124 to 980 ms on two there.
_SMALL_MODEL_WEIGHTS: Final = 50_000_000


def query_threads(weights: int) -> int:
    """Choose for a model of so many numbers: one thread for a small model, all cores for any other."""
    return 1 if weights < _SMALL_MODEL_WEIGHTS else usable_cores()
