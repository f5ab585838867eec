"""Usage of models as people read it: by day, collection, provider, model and operation, with its cost."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.admin.collections import check_collections
from sourcebook.config.answering import ModelPrices
from sourcebook.contract.usage import DIMENSIONS, Usage, summed
from sourcebook.database.queries import queries
from sourcebook.embedding.prices import chat_cost, cost
from sourcebook.errors import QueryError
from sourcebook.model.usage import ANSWER

SHOWN_DAYS: Final = timedelta(days=30)
"""Time whose usage `status` and Dagster show."""


def usage(
    connection: Connection,
    collections: Sequence[str] = (),
    *,
    since: timedelta | None = None,
    by: Sequence[str] = DIMENSIONS,
) -> list[Usage]:
    """Return the usage, the latest day first."""
    wrong = sorted(set(by) - set(DIMENSIONS))
    if wrong:
        raise QueryError(f"usage is not kept by {', '.join(wrong)}, but by {', '.join(DIMENSIONS)}")
    first = None if since is None else (datetime.now(UTC) - since).date()
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["usage"], {"collections": list(collections), "first": first}).fetchall()
    if collections:
        check_collections(connection, sorted(set(collections) - {row["collection"] for row in rows}))
    return summed([_usage(row) for row in rows], by)


def _usage(row: Mapping[str, Any]) -> Usage:
    values = {name: value for name, value in row.items() if name not in {"prices", "answering_prices"}}
    if row["operation"] == ANSWER:
        prices = None if row["answering_prices"] is None else ModelPrices(**row["answering_prices"])
        read, written = row["tokens"], row["answer_tokens"]
        found = chat_cost(row["provider"], row["model"], read, written, prices, row["day"])
    else:
        found = cost(row["provider"], row["model"], row["tokens"], row["prices"], row["day"])
    return Usage(**values, cost=found)
