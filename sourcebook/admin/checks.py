"""What must hold of a collection, asked of the database."""

from dataclasses import dataclass

from psycopg import Connection

from sourcebook.database.queries import queries

CHECKS = (
    "no_failed_items",
    "every_character_is_in_a_passage",
    "every_live_document_is_searchable",
    "no_orphan_or_null_vector",
)


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """One check: how many items violate it, and some of them."""

    name: str
    violations: int
    examples: tuple[str, ...]


def run_checks(connection: Connection, collection: str) -> list[CheckOutcome]:
    """Run every check over one collection."""
    outcomes = []
    for name in CHECKS:
        row = connection.execute(queries[f"check_{name}"], {"collection": collection}).fetchone()
        violations, examples = row or (0, [])
        outcomes.append(CheckOutcome(name, violations, tuple(examples or ())))
    return outcomes
