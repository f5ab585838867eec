"""`ts_rank`, PostgreSQL's own ranking of the same words: what BM25 is compared with."""

from collections.abc import Sequence

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.search.keyword_leg import Ranking, Term


def rank_by_full_text(connection: Connection, generation: int, terms: Sequence[Term], depth: int) -> Ranking:
    """Return (chunk id, ts_rank), best first, of the entries that hold any of the words."""
    parameters = {"generation": generation, "query": any_of(terms), "depth": depth}
    return connection.execute(queries["entries_by_full_text_rank"], parameters).fetchall()


def any_of(terms: Sequence[Term]) -> str:
    """Return the text of a tsquery: any of the words that entries hold."""
    tokens = (term.token.replace("\\", "\\\\").replace("'", "''") for term in terms if term.ids)
    return " | ".join(f"'{token}'" for token in tokens)
