"""The next value is made while the caller works on one."""

import threading
from collections.abc import Iterator

import pytest

from sourcebook.database.batches import read_ahead


def test_values_come_in_order_and_one_ahead() -> None:
    made = [threading.Event() for _ in range(3)]

    def values() -> Iterator[int]:
        for number, event in enumerate(made):
            event.set()
            yield number

    ahead = read_ahead(values())
    assert next(ahead) == 0
    assert made[1].wait(60), "the next one is made without being asked for"
    assert list(ahead) == [1, 2]
    assert list(read_ahead(iter([]))) == []


def test_an_error_comes_in_its_place() -> None:
    def values() -> Iterator[int]:
        yield 1
        raise ValueError("damaged")

    ahead = read_ahead(values())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="damaged"):
        next(ahead)
