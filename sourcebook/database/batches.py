"""Batches of a stream (`itertools.batched` is in the standard library from Python 3.12 on)."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """Yield tuples of `size` items, the last one shorter."""
    stream = iter(items)
    while batch := tuple(islice(stream, size)):
        yield batch


def batched_by_size(items: Iterable[T], most: int, limit: int, *, size: Callable[[T], int]) -> Iterator[tuple[T, ...]]:
    """Yield tuples of at most `most` items with sizes of at most `limit` in total; a larger item is a batch alone."""
    batch: list[T] = []
    total = 0
    for item in items:
        number = size(item)
        if batch and (len(batch) == most or total + number > limit):
            yield tuple(batch)
            batch, total = [], 0
        batch.append(item)
        total += number
    if batch:
        yield tuple(batch)
