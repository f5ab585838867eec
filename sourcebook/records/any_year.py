"""Dates of PostgreSQL that Python has not, such as `infinity`, as texts, so that a table with one of them is read."""

from psycopg import DataError
from psycopg.abc import AdaptContext, Buffer
from psycopg.abc import Loader as AnyLoader
from psycopg.adapt import AdaptersMap, Loader
from psycopg.pq import Format


def take_any_year(adapters: AdaptersMap) -> None:
    """Have dates and times before the year 1 and after 9999 loaded as PostgreSQL writes them."""
    for name in ("date", "timestamp", "timestamptz"):
        oid = adapters.types[name].oid
        if plain := adapters.get_loader(oid, Format.TEXT):
            adapters.register_loader(oid, _or_text(plain))


def _or_text(plain: type[AnyLoader]) -> type[Loader]:
    class OrText(Loader):
        def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
            super().__init__(oid, context)
            self._plain = plain(oid, context)

        def load(self, data: Buffer) -> object:
            try:
                return self._plain.load(data)
            except DataError:
                return bytes(data).decode()

    return OrText
