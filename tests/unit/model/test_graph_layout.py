"""Layouts of HNSW indexes: read from the names of indexes, whole or not at all."""

import pytest

from sourcebook.model.graph_layout import MOST_PARTS, GraphLayout, parts_for


@pytest.mark.parametrize(
    "layout", [GraphLayout(), GraphLayout(2), GraphLayout(1, bits=True), GraphLayout(16, bits=True)]
)
def test_names_tell_the_layout(layout: GraphLayout) -> None:
    """A layout is whole with every name, and nothing without one of them."""
    names = [layout.name(7, part) for part in range(layout.parts)]
    assert GraphLayout.whole(names) == [layout]
    assert GraphLayout.whole([*names[1:], "search_entry_7_lexemes", "search_entry_7_pkey"]) == []


def test_of_two_layouts_the_one_of_more_parts_counts() -> None:
    """A new layout beside the former one is used as soon as it is whole."""
    former = GraphLayout().name(7, 0)
    new = [GraphLayout(2).name(7, part) for part in range(2)]
    assert GraphLayout.whole([former, new[0]])[0] == GraphLayout()
    assert GraphLayout.whole([former, *new])[0] == GraphLayout(2)


@pytest.mark.parametrize(
    ("entries", "parts"),
    [(0, 1), (999_999, 1), (1_000_000, 2), (1_999_999, 2), (2_000_000, 4), (10_000_000, 16), (10**9, MOST_PARTS)],
)
def test_parts_double_with_the_entries(entries: int, parts: int) -> None:
    """A part has between half the limit and the limit, up to the most parts."""
    assert parts_for(entries, 1_000_000) == parts


def test_many_parts_are_walked_less_widely() -> None:
    """Parts are large; the breadth of a walk falls with their number, down to a least one."""
    assert [GraphLayout(parts).breadth for parts in (1, 2, 4, 8, 16, 64)] == [200, 400, 200, 100, 64, 64]
