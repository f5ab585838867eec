"""Checks of a collection's rows in the database."""

from collections.abc import Iterable
from dataclasses import dataclass

from psycopg import Connection

from sourcebook.admin.model_languages import unknown_languages
from sourcebook.admin.status import left_out_of_documents, problem_uris
from sourcebook.database.queries import queries
from sourcebook.indexing.damage import find_every_damage, find_suspicion
from sourcebook.indexing.generations import active_generation
from sourcebook.model.counted import counted
from sourcebook.model.left_out import left_out_words
from sourcebook.model.shard import Shard

CHECKS = {
    "no_failed_items": queries["check_no_failed_items"],
    "little_text_is_left_out": queries["check_little_text_is_left_out"],
    "types_keep_their_promises": queries["check_types_keep_their_promises"],
    "front_matter_is_read": queries["check_front_matter_is_read"],
    "every_character_is_in_a_passage": queries["check_every_character_is_in_a_passage"],
    "every_live_document_is_searchable": queries["check_every_live_document_is_searchable"],
    "no_orphan_or_null_vector": queries["check_no_orphan_or_null_vector"],
}
"""The query of each check by its name: it returns the number of violations and up to ten examples."""
OF_INDEX = ("every_live_document_is_searchable", "no_orphan_or_null_vector")
"""Checks that look at each document; a run checks the documents that changed since the last checks."""
NOT_DAMAGED = "nothing_is_damaged"
"""Check that compares rows with their seals and sums, where there are signs of foreign changes or at night."""
KNOWN_LANGUAGES = "model_knows_the_languages"
"""Check that counts the documents in languages that the embedding model does not know."""
_MOST_EXAMPLES = 10
_MOST_DOCUMENTS = 20_000
"""Documents above which all documents are checked: a list of so many keys costs more than it saves."""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The number of violations of one check, with up to ten examples."""

    name: str
    violations: int
    examples: tuple[str, ...]
    note: str = ""
    """What is told whether or not there are violations."""


def run_checks(
    connection: Connection, collection: str, *, thorough: bool = True, shard: Shard | None = None, is_last: bool = True
) -> list[CheckOutcome]:
    """Run every check over one collection.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        thorough: whether to check all documents; otherwise those that changed since the last checks. After a violation
            every run checks all documents until it is mended.
        shard: the shard whose documents are checked; None: those of every shard.
        is_last: whether no other shard is being worked on: if one is, it makes the checks of the collection in the end.
    """
    if shard is not None:
        outcomes = _check_shard(connection, shard, thorough=thorough)
        if is_last:
            is_suspicious = thorough or bool(find_suspicion(connection, collection))
            names = [name for name in CHECKS if name not in OF_INDEX]
            outcomes += _check_collection(connection, collection, names, None, is_suspicious=is_suspicious)
        return outcomes
    row = connection.execute(queries["checked_at"], {"collection": collection}).fetchone()
    since, now = row or (None, None)
    documents = None
    if since is not None and since <= now and not thorough:  # a later time comes from a clock that was wrong
        rows = connection.execute(queries["documents_to_check"], {"collection": collection, "since": since}).fetchall()
        documents = [number for (number,) in rows] if len(rows) <= _MOST_DOCUMENTS else None
    is_suspicious = thorough or since is None or bool(find_suspicion(connection, collection))
    outcomes = _check_collection(connection, collection, CHECKS, documents, is_suspicious=is_suspicious)
    is_sound = not any(outcome.violations for outcome in outcomes if outcome.name in OF_INDEX)
    connection.execute(queries["record_checks"], {"collection": collection, "at": now if is_sound else None})
    return outcomes


def _check_collection(
    connection: Connection,
    collection: str,
    names: Iterable[str],
    documents: list[int] | None,
    *,
    is_suspicious: bool,
) -> list[CheckOutcome]:
    """Run some of the checks with a query, and those of languages and of damage."""
    problems = problem_uris(connection, collection, skipped=False)
    scope = {"collection": collection, "documents": documents, "problems": problems}
    outcomes = []
    for name in names:
        row = connection.execute(CHECKS[name], scope).fetchone()
        violations, examples = row or (0, [])
        outcomes.append(CheckOutcome(name, violations, tuple(examples or ()), _note(connection, collection, name)))
    languages = unknown_languages(connection, collection)
    examples = tuple(f"{code}: {number:,}" for code, number in languages.items())
    outcomes.append(CheckOutcome(KNOWN_LANGUAGES, sum(languages.values()), examples))
    damage = find_every_damage(connection, collection) if is_suspicious else []
    outcomes.append(CheckOutcome(NOT_DAMAGED, len(damage), tuple(map(str, damage[:_MOST_EXAMPLES]))))
    return outcomes


def _note(connection: Connection, collection: str, name: str) -> str:
    if name != "little_text_is_left_out":
        return ""
    documents, counts = left_out_of_documents(connection, collection)
    return f"{counted(documents, 'document')}: {left_out_words(counts)}" if counts else ""


def _check_shard(connection: Connection, shard: Shard, *, thorough: bool) -> list[CheckOutcome]:
    """Run the checks of single documents over those of one shard."""
    scope = {"collection": shard.collection, **shard.values}
    if active_generation(connection, shard.collection) is None:
        return []
    since, now = connection.execute(queries["checked_at_of_shard"], scope).fetchone() or (None, None)
    if since is None or since > now or thorough:
        documents = [number for (number,) in connection.execute(queries["documents_of_shard"], scope)]
    else:
        rows = connection.execute(queries["documents_to_check"], {"collection": shard.collection, "since": since})
        among = {**scope, "documents": [number for (number,) in rows]}
        documents = [number for (number,) in connection.execute(queries["documents_among_shard"], among)]
    outcomes = []
    for name in OF_INDEX:
        row = connection.execute(CHECKS[name], {**scope, "documents": documents, "problems": []}).fetchone()
        violations, examples = row or (0, [])
        outcomes.append(CheckOutcome(name, violations, tuple(examples or ())))
    is_sound = not any(outcome.violations for outcome in outcomes)
    connection.execute(queries["record_checks_of_shard"], {**scope, "at": now if is_sound else None})
    return outcomes
