"""Streams in batches (`itertools.batched` is in the standard library from Python 3.12 on), and read ahead."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")
_END: Final = object()


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


def read_ahead(values: Iterator[T]) -> Iterator[T]:
    """Yield the values of an iterator, each made in a thread while the caller works on the one before.

    An error in between is raised in its place.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="read-ahead") as reader:
        following = reader.submit(next, values, _END)
        while (value := following.result()) is not _END:
            following = reader.submit(next, values, _END)
            yield value  # type: ignore[misc] # not the end
