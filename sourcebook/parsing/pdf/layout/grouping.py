"""Groups of what follows one another."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def grouped(items: Iterable[T], joins: Callable[[list[T], T], bool]) -> Iterator[list[T]]:
    """Yield consecutive items together, as long as the next one joins the group before it."""
    group: list[T] = []
    for item in items:
        if group and not joins(group, item):
            yield group
            group = []
        group.append(item)
    if group:
        yield group
