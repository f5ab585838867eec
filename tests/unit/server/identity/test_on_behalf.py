"""Requests on behalf of others: the header, and who may send it."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from starlette.datastructures import Headers

from sourcebook.config.principals import PRINCIPALS_HEADER
from sourcebook.contract.access import AccessKey
from sourcebook.errors import QueryError
from sourcebook.server.identity.on_behalf import refuse_header, spoken_grant
from sourcebook.server.problems import ForbiddenError


def key(**changed: Any) -> AccessKey:
    told: dict[str, Any] = {"id": 7, "name": "portal", "beginning": "sb_abc", "scopes": ("read",), "collections": None}
    times = {"created_at": datetime.now(UTC), "expires_at": None, "used_at": None, "revoked_at": None}
    return AccessKey(**(told | times | changed))


def sent(*values: str) -> Headers:
    name = PRINCIPALS_HEADER.lower().encode()
    return Headers(raw=[(name, value.encode("latin-1")) for value in values])


def principals(value: str) -> frozenset[str] | None:
    return spoken_grant(key(on_behalf="required"), sent(value)).asker.principals


def test_the_header_names_principals_between_commas() -> None:
    assert principals("user:anna@example.org, group:board") == frozenset(
        {"everyone", "user:anna@example.org", "group:board"}
    )
    assert principals("everyone") == frozenset({"everyone"})
    assert principals("\tUSER:anna ,GROUP:Board") == frozenset({"everyone", "user:anna", "group:Board"})
    for name in ("Zoë", "Vorstand, extern", "100 %", "a+b", "部長", "x\u202ey"):
        assert principals(f"group:{quote(name, safe='')}") == frozenset({"everyone", f"group:{name}"})
        assert principals(quote(f"group:{name}", safe="")) == frozenset({"everyone", f"group:{name}"})
    many = principals(", ".join(f"group:{number}" for number in range(10_000)))
    assert many is not None
    assert len(many) == 10_001


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("", 1),
        (" ", 1),
        ("user:anna,", 2),
        ("user:anna,,group:b", 2),
        ("user:anna, board", 2),
        ("role:board", 1),
        ("user:", 1),
        ("user:a%0", 1),
        ("user:a%zz", 1),
        ("user:100 %", 1),
        ("user:%ff", 1),
        ("user:%ed%a0%80", 1),
        ("user:a%00", 1),
        ("user:a%0ab", 1),
        ("user:Zoë", 1),
        ("user:a; group:b, x", 2),
        ("group:" + "x" * 600, 1),
    ],
)
def test_a_malformed_item_is_named_by_its_place_and_not_repeated(value: str, place: int) -> None:
    with pytest.raises(QueryError, match=f"item {place} is no principal") as refused:
        principals(value)
    assert "anna" not in str(refused.value)


def test_more_principals_than_a_caller_may_have_are_refused() -> None:
    with pytest.raises(QueryError, match="at most 20,000"):
        principals(",".join(f"group:{number}" for number in range(20_001)))


def test_the_header_is_refused_when_it_comes_twice() -> None:
    """A front end that adds its header to that of its callers would let them speak for anybody."""
    with pytest.raises(QueryError, match="more than once"):
        spoken_grant(key(on_behalf="required"), sent("user:anna", "user:admin"))


def test_the_header_is_refused_and_never_ignored_without_the_right() -> None:
    for other in (key(), key(principals=["user:anna"]), key(scopes=("admin",))):
        with pytest.raises(ForbiddenError, match="on behalf"):
            spoken_grant(other, sent("user:anna"))
    with pytest.raises(ForbiddenError, match="on behalf"):
        refuse_header(sent(""))


def test_a_key_that_must_say_for_whom_it_asks_is_refused_when_it_does_not() -> None:
    with pytest.raises(ForbiddenError, match=f"send {PRINCIPALS_HEADER}"):
        spoken_grant(key(on_behalf="required"), sent())
    assert key(on_behalf="required").grant.asker.principals == frozenset({"everyone"}), (
        "whoever forgets to ask sees the least"
    )


def test_a_key_that_may_say_so_sees_its_scope_when_it_does_not() -> None:
    optional = key(on_behalf="optional", scopes=("write",))
    free, bound = spoken_grant(optional, sent()), spoken_grant(optional, sent("user:anna"))
    assert (free.asker.principals, free.allows("write")) == (None, True)
    assert (bound.allows("read"), bound.allows("write"), bound.allows("admin")) == (True, False, False)


def test_callers_with_other_principals_are_others() -> None:
    """Answers and conversations are kept by the identity of a caller."""
    portal = key(on_behalf="optional")
    named = [sent(), sent("user:anna"), sent("user:anna,group:b"), sent("user:anna, group:c"), sent("everyone")]
    assert len({spoken_grant(portal, each).identity for each in named}) == len(named)
    same = (sent("group:b,user:anna"), sent(" USER:anna,group:b,everyone"))
    assert len({spoken_grant(portal, each).identity for each in same}) == 1


def test_a_key_of_principals_asks_for_them() -> None:
    grant = spoken_grant(key(principals=["everyone", "group:b", "user:anna"]), sent())
    assert grant.asker.principals == frozenset({"everyone", "group:b", "user:anna"})
    assert (grant.asker.name, grant.allows("read")) == ("user:anna", True)
