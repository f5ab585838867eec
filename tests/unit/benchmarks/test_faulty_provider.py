"""The proxy of the benchmark counts what a provider's quota counts."""

from benchmarks.harness.faulty_provider import Record


def test_the_largest_minute_is_found() -> None:
    """Any 60 seconds count, wherever they begin; one that begins a minute later is outside."""
    record = Record(requests=[(0.0, 5), (59.9, 7), (60.0, 1), (61.0, 1), (200.0, 12)])
    assert record.most_in_a_minute() == (3, 12)
    assert Record().most_in_a_minute() == (0, 0)
