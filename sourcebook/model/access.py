"""Scopes over collections: the rights of a caller, and the principals for whom it asks."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

Scope = Literal["read", "write", "admin", "unredacted"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
HeldScope = Scope | Literal["search"]
"""Scope that a key has: `search` is that of a key for pages of other sites, and includes none of the others."""
_INCLUDED: Final[dict[HeldScope, frozenset[Scope]]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "admin": frozenset({"read", "write", "admin"}),
    "unredacted": frozenset({"read", "unredacted"}),
    "search": frozenset(),
}
"""Scopes that a scope includes."""


OnBehalf = Literal["required", "optional"]
"""Whether a key that speaks for others must say for whom, or sees everything in its scope where it does not."""
_WRITING: Final[frozenset[Scope]] = frozenset({"write", "admin"})


@dataclass(frozen=True, slots=True)
class Asker:
    """The principals for whom a request asks."""

    principals: frozenset[str] | None = None
    """Principals whose documents exist for the caller, `everyone` among them; None: every document in scope."""
    name: str = ""
    """The user among the principals; empty without one."""

    @property
    def digest(self) -> str:
        """The principals in short: equal for equal principals alone; empty without principals."""
        if self.principals is None:
            return ""
        return hashlib.sha256("\n".join(sorted(self.principals)).encode()).hexdigest()[:32]


def asker_for(principals: Iterable[str]) -> Asker:
    """Return the asker with some principals, by the name of its first user."""
    held = frozenset(principals)
    return Asker(held, min((each for each in held if each.startswith("user:")), default=""))


@dataclass(frozen=True, slots=True)
class Grant:
    """The scopes of one caller, and the collections that exist for it."""

    actor: str
    """Name of the caller in the audit: `key NAME`, or the account of the operating system."""
    scopes: tuple[HeldScope, ...] = SCOPES
    collections: tuple[str, ...] | None = None
    """Names of the only collections that it sees; None: every collection."""
    key_id: int | None = None
    """Id of its key; None without one."""
    asker: Asker = Asker()

    @property
    def identity(self) -> str:
        """The caller among all others, with its principals: names of keys are given again, ids are not."""
        caller = self.actor if self.key_id is None else f"key {self.key_id}"
        return caller if self.asker.principals is None else f"{caller} for {self.asker.digest}"

    def allows(self, scope: Scope) -> bool:
        """Return whether the caller may do what needs a scope; who asks for principals changes nothing."""
        if self.asker.principals is not None and scope in _WRITING:
            return False
        return any(scope in _INCLUDED[held] for held in self.scopes)

    def sees(self, collection: str) -> bool:
        """Return whether a collection exists for the caller."""
        return self.collections is None or collection in self.collections

    def sees_all(self, collections: Iterable[str] | None) -> bool:
        """Return whether everything that a key opens exists for the caller.

        Args:
            collections: the only collections that the key sees; None: every collection.
        """
        return self.collections is None or (collections is not None and set(collections) <= set(self.collections))

    def seen(self, collections: Iterable[str]) -> list[str]:
        """Return those of some collections that exist for the caller, in their order."""
        return [name for name in collections if self.sees(name)]
