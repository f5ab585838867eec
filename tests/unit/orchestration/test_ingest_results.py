"""Runs that follow each other while crawls pause."""

from orchestration.ingest_results import sum_of_counts


def test_the_counts_of_two_runs_are_those_of_one() -> None:
    """Nothing is counted twice: an item that the first run added is unchanged in the second."""
    first = {"documents": {"added": 5, "changed": 1, "unchanged": 10, "failed": 1, "seconds": 2.0, "rendered": 1}}
    second = {"documents": {"added": 3, "changed": 0, "unchanged": 16, "failed": 0, "seconds": 1.5, "bytes": 7}}
    assert sum_of_counts(first, second) == {
        "documents": {
            "added": 8,
            "changed": 1,
            "unchanged": 10,
            "failed": 0,
            "seconds": 3.5,
            "rendered": 1,
            "bytes": 7,
        }
    }
