"""Keys of a server."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sourcebook.model.access import Grant, Scope
from sourcebook.model.plain_values import PlainValues


@dataclass(frozen=True, slots=True)
class AccessKey:
    """A key as it is kept: without what opens anything."""

    id: int
    name: str
    beginning: str
    """The first characters of the key."""
    scopes: tuple[Scope, ...]
    collections: tuple[str, ...] | None
    """Names of the only collections that it sees; None: every collection."""
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    """Last use, to the minute."""
    revoked_at: datetime | None
    requests_a_minute: int | None = None
    """Requests a minute; None: the limit of the server."""

    def __post_init__(self) -> None:
        """Turn the lists of the database into tuples."""
        object.__setattr__(self, "scopes", tuple(self.scopes))
        if self.collections is not None:
            object.__setattr__(self, "collections", tuple(self.collections))

    @property
    def state(self) -> str:
        """`valid`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        is_over = self.expires_at is not None and self.expires_at <= datetime.now(UTC)
        return "expired" if is_over else "valid"

    @property
    def grant(self) -> Grant:
        """The scopes and collections of the key."""
        return Grant(f"key {self.name}", self.scopes, self.collections, self.id)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, the state among them."""
        return {**asdict(self), "state": self.state}


@dataclass(frozen=True, slots=True)
class PageSession(PlainValues):
    """A browser that somebody has signed in with a key."""

    id: int
    key_id: int
    key: str
    """Name of the key."""
    browser: str
    """The browser's own name of itself."""
    began_at: datetime
    used_at: datetime
    """Last use, to the minute."""
    ends_at: datetime
    """The time when it ends by itself, unless it is used before."""
