"""The state of each generation, and its activation and deletion by a person."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.contract.faces import advice
from sourcebook.contract.generations import GenerationState, State
from sourcebook.database.database import Database
from sourcebook.database.lock import collection_lock
from sourcebook.database.queries import queries
from sourcebook.errors import ModelError, QueryError
from sourcebook.indexing.activation import activate, retire, seconds_to_retirement
from sourcebook.indexing.generations import find_generations
from sourcebook.model.generation import Generation, plain_settings


def generation_states(
    connection: Connection, collection: str | None = None, *, generation: int | None = None
) -> list[GenerationState]:
    """Return the generations of live collections: of each the active one first, then the one being built.

    Args:
        connection: to the knowledge base.
        collection: name of the only collection; None for all.
        generation: id of the only generation; None for all.

    Raises:
        QueryError: the collection or the generation does not exist.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        scope = {"collection": collection, "generation": generation}
        rows = cursor.execute(queries["generation_states"], scope).fetchall()
    if generation is not None and not rows:
        raise QueryError(f"there is no generation {generation}{advice('generations')}")
    kept: dict[str, set[int]] = {}
    for name in {row["collection"] for row in rows}:
        found = find_generations(connection, name)
        surplus = {each.id for each in found.surplus}
        kept[name] = {each.id for each in found.earlier if each.id not in surplus}
    return [
        GenerationState(
            id=row["id"],
            collection=row["collection"],
            state=_state(row, kept[row["collection"]]),
            **plain_settings(row["chunking"], row["embedding"]),
            model=row["model"],
            documents=row["documents"],
            live_documents=row["live"],
            passages=row["passages"],
            bytes=row["bytes"],
            created_at=row["created_at"],
            activated_at=row["activated_at"],
            failure=row["failure"],
            blocked_by=_refusal(row),
            scores=row["scores"] or {},
        )
        for row in rows
    ]


def describe_next(state: GenerationState) -> str:
    """Return what holds back a generation that is built beside the active one, and what to do about it."""
    if state.state == "blocked":
        return (
            f"generation {state.id} is not activated, for {state.blocked_by}. Activate it all the same: "
            f"sourcebook generations activate {state.id}"
        )
    if state.state == "waiting":
        return f"generation {state.id} is whole and not active; activate it: sourcebook generations activate {state.id}"
    told = f"generation {state.id} is being built: {state.documents:,} of {state.live_documents:,} documents"
    return f"{told}; {state.failure}" if state.failure else told


def generation_notes(connection: Connection, collection: str) -> list[str]:
    """Return sentences on the generation that is to take the place of the active one; none where there is none."""
    found = find_generations(connection, collection)
    notes = [] if found.error is None else [f"no generation by the new settings can be built: {found.error}"]
    if found.building is not None:
        (state,) = generation_states(connection, generation=found.building.id)
        notes.append(describe_next(state))
    return notes


def _refusal(row: Mapping[str, Any]) -> str | None:
    verdict = row["verdict"]
    return None if verdict is None or verdict["passed"] or row["is_active"] else str(verdict["description"])


def _state(row: Mapping[str, Any], kept: set[int]) -> State:
    if row["is_active"]:
        return "active"
    if row["is_building"]:
        if row["documents"] != row["live"] or row["removed"]:
            return "building"
        return "blocked" if _refusal(row) else "waiting"
    return "kept" if row["id"] in kept else "surplus"


def activate_generation(database: Database, number: int) -> GenerationState:
    """Make a generation the active one of its collection, and return its state.

    An earlier generation becomes active at once; the next ingest brings what changed since it was replaced.

    Args:
        database: the knowledge base.
        number: id of the generation.

    Raises:
        QueryError: there is no such generation, it is not whole yet, or it is being deleted.
        ModelError: its model cannot be opened on this machine, so that no question could be compared with its vectors.
    """
    with database.connection() as connection:
        (state,) = generation_states(connection, generation=number)
        found = find_generations(connection, state.collection)
        if state.state == "building":
            raise QueryError(
                f"generation {number} has {state.documents:,} of {state.live_documents:,} documents: "
                "build it with  sourcebook ingest"
            )
        generation = next((each for each in (*found.followed, *found.earlier) if each.id == number), None)
        if generation is None:
            raise QueryError(
                f"generation {number} is being deleted: put its settings into sourcebook.yaml to build it again"
            )
        if not generation.is_active:
            _check_model(database, generation)
        activate(connection, generation)
        return generation_states(connection, generation=number)[0]


def _check_model(database: Database, generation: Generation) -> None:
    from sourcebook.embedding.opening import check_openable  # imports the clients of providers

    try:
        check_openable(database.location.home, generation.model, generation.embedding_settings)
    except ModelError as error:
        raise ModelError(
            f"generation {generation.id} is not activated, its model cannot be opened on this machine: "
            f"{str(error).partition('. ')[0].rstrip('.')}. Put the model {generation.embedding_settings.model} back, "
            f"or activate a generation of another one{advice('generations')}"
        ) from error


def retire_generation(
    database: Database, number: int, *, waiting: Callable[[str], None] = lambda reason: None
) -> GenerationState:
    """Delete a generation that is neither active nor being built, and return its last state.

    Args:
        database: the knowledge base.
        number: id of the generation.
        waiting: called with the reason where the deletion waits: for another process, or for searches.

    Raises:
        QueryError: there is no such generation, or it is in use.
    """
    with database.connection() as connection:
        (state,) = generation_states(connection, generation=number)
    if state.state == "active":
        raise QueryError(f"generation {number} is active: activate another one first")
    if state.state in ("building", "waiting", "blocked"):
        raise QueryError(f"generation {number} is built by the settings in sourcebook.yaml: put other ones there")
    locked = f"another process is ingesting {state.collection}"
    with (
        collection_lock(database, state.collection, waiting=lambda: waiting(locked)),
        database.connection() as connection,
    ):
        found = find_generations(connection, state.collection)
        for generation in found.earlier:
            seconds = seconds_to_retirement(found, generation) if generation.id == number else 0.0
            if seconds:
                waiting(f"searches that began with it may be running for {seconds:.0f} s")
                time.sleep(seconds)
        if not retire(connection, number):
            raise QueryError(f"generation {number} is in use again: nothing was deleted")
    return state
