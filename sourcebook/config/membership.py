"""Membership rules: a collection takes documents of other collections by their tags."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Settings, Text, Words


class TakenDocuments(Settings):
    """A membership rule: the documents of another collection with these tags, or all of them."""

    collection: Text = Field(description="the name of another collection of this file")
    """Other collection, whose documents this one [takes](#documents-of-other-collections)."""
    tags: Words = Field(
        default=(),
        min_length=1,
        description="a list of words such as [policy], of which a document has one; left out: any document",
    )
    """Tags of which a document has at least one."""
    tags_all: Words = Field(
        default=(), min_length=1, description="a list of words such as [hr, signed], all of which a document has"
    )
    """Tags of which a document has all."""

    @property
    def location(self) -> str:
        """The name of the other collection."""
        return self.collection


def listed(rules: Any) -> Any:
    """Return a single rule as a list of one."""
    return [rules] if isinstance(rules, dict) else rules


def check_rules(givers: Mapping[str, Sequence[str]]) -> None:
    """Check that collections take documents of other collections, without circles.

    Args:
        givers: names of the collections that each collection takes documents of, in the order of its rules.

    Raises:
        PydanticCustomError: a name is unknown, is the collection's own, is named twice, or closes a circle.
    """
    for name, names in givers.items():
        for index in range(len(names)):
            reason = _reason(name, index, givers)
            if reason is not None:
                place = ("collections", name, "from", index, "collection")
                raise PydanticCustomError("membership", "{reason}", {"reason": reason, "inside": place})


def in_order(names: Iterable[str], givers: Mapping[str, Sequence[str]]) -> list[str]:
    """Return names of collections, each after those whose documents it takes, otherwise as they came.

    Args:
        names: names of collections.
        givers: names of the collections that each collection takes documents of, without circles.
    """
    wanted = list(names)
    found: dict[str, None] = {}

    def add(name: str) -> None:
        for giver in givers.get(name, ()):
            add(giver)
        found.setdefault(name)

    for name in wanted:
        add(name)
    return [name for name in found if name in wanted]


def _reason(name: str, index: int, givers: Mapping[str, Sequence[str]]) -> str | None:
    """Return what is wrong with one rule of a collection, None where it is right."""
    giver = givers[name][index]
    if giver == name:
        return "a collection does not take its own documents"
    if giver not in givers:
        from difflib import get_close_matches

        near = get_close_matches(giver, givers, n=1)
        meant = f"; did you mean {near[0]}?" if near else f"; there is {', '.join(givers)}"
        return f"there is no such collection{meant}"
    if giver in givers[name][:index]:
        first = givers[name].index(giver)
        return f"from[{first}] takes documents of {giver} already: list the tags there"
    circle = _way(giver, name, givers)
    if circle:
        return f"a circle: {' takes from '.join([name, *circle])}"
    return None


def _way(start: str, end: str, givers: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the collections from one to another along the rules; empty where no way leads there."""
    seen = {start}
    ways = [[start]]
    while ways:
        way = ways.pop(0)
        if way[-1] == end:
            return way
        for giver in givers.get(way[-1], ()):
            if giver not in seen:
                seen.add(giver)
                ways.append([*way, giver])
    return []
