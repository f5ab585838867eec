"""Keys of a server."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sourcebook.config.principals import EVERYONE
from sourcebook.model.access import Asker, Grant, HeldScope, OnBehalf, asker_for
from sourcebook.model.plain_values import PlainValues


@dataclass(frozen=True, slots=True)
class AccessKey:
    """A key as it is kept: without what opens anything."""

    id: int
    name: str
    beginning: str
    """The first characters of the key."""
    scopes: tuple[HeldScope, ...]
    collections: tuple[str, ...] | None
    """Names of the only collections that it sees; None: every collection."""
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    """Last use, to the minute."""
    revoked_at: datetime | None
    requests_a_minute: int | None = None
    """Requests a minute; None: the limit of the server."""
    principals: tuple[str, ...] | None = None
    """For whom it asks, such as `user:anna@example.org`; None: for everything in its scope."""
    on_behalf: OnBehalf | None = None
    """Whether a request must say for whom it asks, or may; None: it may not."""
    origins: tuple[str, ...] | None = None
    """Origins of the pages that alone may send it, such as `https://docs.example.com`; None: anybody may."""

    def __post_init__(self) -> None:
        """Turn the lists of the database into tuples."""
        object.__setattr__(self, "scopes", tuple(self.scopes))
        if self.collections is not None:
            object.__setattr__(self, "collections", tuple(self.collections))
        if self.principals is not None:
            object.__setattr__(self, "principals", tuple(self.principals))
        if self.origins is not None:
            object.__setattr__(self, "origins", tuple(self.origins))

    @property
    def state(self) -> str:
        """`valid`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        is_over = self.expires_at is not None and self.expires_at <= datetime.now(UTC)
        return "expired" if is_over else "valid"

    @property
    def grant(self) -> Grant:
        """The scopes, collections and principals of the key; `everyone` where each request must name some.

        Whoever reads a page can read its key: a key of pages sees what everyone may see.
        """
        is_everyones = self.on_behalf == "required" or self.origins is not None
        held = (EVERYONE,) if is_everyones else self.principals
        asker = Asker() if held is None else asker_for({EVERYONE, *held})
        return Grant(f"key {self.name}", self.scopes, self.collections, self.id, asker)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, the state among them."""
        return {**asdict(self), "state": self.state}


@dataclass(frozen=True, slots=True)
class PageSession(PlainValues):
    """A browser that somebody has signed in with a key, or at the issuer of signed tokens."""

    id: int
    key_id: int | None
    """Id of the key; None of a person whom the issuer has named."""
    key: str
    """Name of the key, or of the person."""
    browser: str
    """The browser's own name of itself."""
    began_at: datetime
    used_at: datetime
    """Last use, to the minute."""
    ends_at: datetime
    """The time when it ends by itself, unless it is used before."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who has signed in at the issuer of signed tokens."""

    name: str
    """Name that is shown."""
    principals: frozenset[str]
    """The person, its groups, and `everyone`."""
    subject: str = ""
    """`sub` of the ID token; empty where a session has none."""
    session: str | None = None
    """`sid` of the ID token: the session at the issuer; None where it has none."""


@dataclass(frozen=True, slots=True)
class ProviderLogout:
    """Sessions that an issuer has ended, by a logout token (OpenID Connect Back-Channel Logout 1.0)."""

    subject: str | None
    """Person whose sessions have ended; None where `session` alone says it."""
    session: str | None
    """Session at the issuer; None for all of the person."""
    number: str
    """`jti` of the token."""
    ends_at: float
    """When the token expires, in seconds since 1970."""
