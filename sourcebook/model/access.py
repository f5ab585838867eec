"""Scopes over collections: the rights of a caller."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

Scope = Literal["read", "write", "admin", "unredacted"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
_INCLUDED: Final[dict[Scope, frozenset[Scope]]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "admin": frozenset({"read", "write", "admin"}),
    "unredacted": frozenset({"read", "unredacted"}),
}
"""Scopes that a scope includes."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The scopes of one caller, and the collections that exist for it."""

    actor: str
    """Name of the caller in the audit: `key NAME`, or the account of the operating system."""
    scopes: tuple[Scope, ...] = SCOPES
    collections: tuple[str, ...] | None = None
    """Names of the only collections that it sees; None: every collection."""
    key_id: int | None = None
    """Id of its key; None without one."""

    @property
    def identity(self) -> str:
        """The caller among all others: names of keys are given again, ids are not."""
        return self.actor if self.key_id is None else f"key {self.key_id}"

    def allows(self, scope: Scope) -> bool:
        """Return whether the caller may do what needs a scope."""
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
