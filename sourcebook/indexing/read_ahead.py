"""Reading of the next value of an iterator while the caller works on one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

Value = TypeVar("Value")
_END: Final = object()


def read_ahead(values: Iterator[Value]) -> Iterator[Value]:
    """Yield the values of an iterator, each made in a thread while the caller works on the one before.

    An error in between is raised in its place.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="read-ahead") as reader:
        following = reader.submit(next, values, _END)
        while (value := following.result()) is not _END:
            following = reader.submit(next, values, _END)
            yield value  # type: ignore[misc] # not the end
