"""Tenants of one PostgreSQL."""

from dataclasses import dataclass

from sourcebook.model.plain_values import PlainValues


@dataclass(frozen=True, slots=True)
class Tenant(PlainValues):
    """A tenant: a database with a role of its own."""

    name: str
    """Name of the database and of the role."""
    connections: int
    """Connections that it may have at once; -1 without a limit."""
    bytes: int
    """Size of the database."""
    connected: int
    """Connections that it has now."""


@dataclass(frozen=True, slots=True)
class NewTenant(PlainValues):
    """Addresses and secrets for the programs of a tenant."""

    name: str
    url: str
    """Value of `SOURCEBOOK_DATABASE_URL`, with the password where it was made now."""
    has_password: bool
    key: str | None
    """Its first key, with the scope `admin`; None where it has keys already."""
