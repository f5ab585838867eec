"""Scopes over collections."""

import pytest

from sourcebook.model.access import SCOPES, Grant, Scope


@pytest.mark.parametrize(("held", "allowed"), [("read", 1), ("write", 2), ("admin", 3)])
def test_a_scope_includes_those_before_it(held: Scope, allowed: int) -> None:
    assert [scope for scope in SCOPES if Grant("x", (held,)).allows(scope)] == list(SCOPES[:allowed])


def test_collections_exist_for_a_grant_that_names_them() -> None:
    assert Grant("x", collections=("b",)).seen(["a", "b"]) == ["b"]
    assert Grant("x", collections=()).seen(["a"]) == []
    assert Grant("x").seen(["a", "b"]) == ["a", "b"]
