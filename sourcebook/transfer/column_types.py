"""The Parquet types of the ledger's columns, by PostgreSQL's types."""

from typing import Any, Final

import pyarrow as pa
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format

_BY_OID: Final[dict[int, pa.DataType]] = {
    16: pa.bool_(),
    17: pa.binary(),
    20: pa.int64(),
    21: pa.int16(),
    23: pa.int32(),
    25: pa.string(),
    700: pa.float32(),
    701: pa.float64(),
    1009: pa.list_(pa.string()),
    1184: pa.timestamp("us", tz="UTC"),
    3802: pa.string(),
}
"""Parquet's type of bool, bytea, bigint, smallint, integer, text, real, double precision, text[], timestamptz and
jsonb."""
JSONB: Final = 3802


class JsonText(Loader):
    """Loads jsonb as its text."""

    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        """Return the text behind the version byte."""
        return bytes(data)[1:].decode()


def is_exportable(oid: int) -> bool:
    """Return whether columns of a type are exported."""
    return oid in _BY_OID


def parquet_type(oid: int, column: str) -> Any:
    """Return the Parquet type of a column.

    Raises:
        TypeError: the ledger has a column of a type that no export knows.
    """
    try:
        return _BY_OID[oid]
    except KeyError:
        message = f"the column {column} has PostgreSQL's type {oid}, which sourcebook/transfer/column_types.py lacks"
        raise TypeError(message) from None
