"""Checks of a collection's rows in the database."""

from dataclasses import dataclass

from psycopg import Connection

from sourcebook.database.queries import queries

CHECKS = {
    "no_failed_items": queries["check_no_failed_items"],
    "every_character_is_in_a_passage": queries["check_every_character_is_in_a_passage"],
    "every_live_document_is_searchable": queries["check_every_live_document_is_searchable"],
    "no_orphan_or_null_vector": queries["check_no_orphan_or_null_vector"],
}
"""The query of each check by its name: it returns the number of violations and up to ten examples."""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The number of violations of one check, with up to ten examples."""

    name: str
    violations: int
    examples: tuple[str, ...]


def run_checks(connection: Connection, collection: str) -> list[CheckOutcome]:
    """Run every check over one collection."""
    outcomes = []
    for name, query in CHECKS.items():
        row = connection.execute(query, {"collection": collection}).fetchone()
        violations, examples = row or (0, [])
        outcomes.append(CheckOutcome(name, violations, tuple(examples or ())))
    return outcomes
