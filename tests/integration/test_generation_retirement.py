"""Activations and deletions of generations that are killed, interrupted, or happen in the same moment."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import Any

import psycopg
import pytest

from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.indexing import activation
from sourcebook.indexing.activation import activate, retire
from sourcebook.indexing.generations import ensure_generations
from tests.integration.built_generations import (
    KilledError,
    build_first,
    configure,
    generations,
    is_blocked,
    partitions,
    surplus_generation,
    waiting_generation,
)
from tests.integration.stages import Stages
from tests.waiting import wait_until


def fill(stages: Stages) -> None:
    """A collection with one generation of 64 tokens."""
    build_first(stages)


@pytest.fixture
def built(filled: Stages) -> Stages:
    return filled


def test_a_killed_activation_leaves_one_generation_or_the_other(built: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each statement of an activation may be the last one of its process: searches find one whole generation.

    The kills go on until an activation of each of the two has ended before its own.
    """
    first = built.generation
    configure(built, 128, activate="manual")
    built.run()
    second = generations(built).building
    assert second is not None
    execute, whole = psycopg.Connection.execute, set[int]()
    for statements in count():
        if len(whole) == 2:
            break
        done = 0

        def few(connection: psycopg.Connection, *args: Any, **options: Any) -> Any:
            nonlocal done
            done += 1
            if done > statements:  # noqa: B023 - of this turn
                raise KilledError
            return execute(connection, *args, **options)

        target = second if built.generation.id == first.id else first
        with built.connection() as connection:
            monkeypatch.setattr(psycopg.Connection, "execute", few)
            with suppress(KilledError):
                activate(connection, target)
                whole.add(target.id)
            monkeypatch.undo()
        assert built.generation.id in (first.id, second.id)
        assert built.found("tide") == {"tide.md"}
    assert len(built.rows("SELECT 1 FROM activation")) > 2
    built.run()
    built.assert_sound()


def test_a_generation_that_is_being_deleted_cannot_be_activated_meanwhile(built: Stages) -> None:
    """Activation and deletion in the same moment: the first one counts, and what is active is whole."""
    second = waiting_generation(built)
    with built.connection() as deleting, built.connection() as activating, ThreadPoolExecutor(1) as beside:
        with deleting.transaction():
            deleting.execute(queries["lock_generation"], {"generation": second.id})
            deleting.execute(queries["build_generation"], {"collection": built.collection, "generation": None})
            deleting.execute(queries["begin_retirement"], {"generation": second.id})
            result = beside.submit(activate, activating, second)
            wait_until(lambda: is_blocked(built), what="the activation waits")
        with pytest.raises(QueryError, match=f"generation {second.id} .* is being deleted"):
            result.result(60)
    assert built.found("tide") == {"tide.md"}


def test_a_generation_that_is_being_activated_is_not_deleted(built: Stages) -> None:
    second = waiting_generation(built)
    with built.connection() as activating, built.connection() as deleting, ThreadPoolExecutor(1) as beside:
        with activating.transaction():
            activate(activating, second)
            result = beside.submit(retire, deleting, second.id)
            wait_until(lambda: is_blocked(built), what="the deletion waits")
        assert result.result(60) is False
    assert built.generation.id == second.id
    assert built.found("tide") == {"tide.md"}


def test_a_killed_retirement_is_ended_by_the_next_ingest(built: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each statement of a retirement may be the last one of its process."""
    active, execute = 64, psycopg.Connection.execute
    for statements in range(2, 13):
        done = 0

        def few(connection: psycopg.Connection, *args: Any, **options: Any) -> Any:
            nonlocal done
            done += 1
            if done > statements:  # noqa: B023 - of this turn
                raise KilledError
            return execute(connection, *args, **options)

        wanted = active + 8
        configure(built, wanted)
        built.run()
        abandoned = generations(built).building
        assert abandoned is not None
        configure(built, active)
        built.chunks()
        with built.connection() as connection:
            monkeypatch.setattr(psycopg.Connection, "execute", few)
            try:
                retire(connection, abandoned.id)
            except KilledError:
                connection.close()
            finally:
                monkeypatch.undo()
        assert built.found("tide") == {"tide.md"}
        configure(built, wanted)  # a generation whose deletion has begun is not taken up again
        built.run()
        built.finish()
        assert built.generation.id > abandoned.id
        assert built.found("tide") == {"tide.md"}
        assert not built.rows("SELECT 1 FROM generation WHERE id = %(number)s", number=abandoned.id)
        assert not built.pending().work
        active = wanted
    built.assert_sound()


def test_an_interrupted_detachment_is_finished(built: Stages) -> None:
    configure(built, 128)
    built.chunks()
    abandoned = generations(built).building
    assert abandoned is not None
    configure(built, 64)
    with built.connection() as connection, built.connection() as reader:
        ensure_generations(connection, built.collection)
        with reader.transaction():
            reader.execute("SELECT 1 FROM search_entry LIMIT 1")
            connection.execute("SET statement_timeout = '300ms'")
            with pytest.raises(psycopg.errors.QueryCanceled):
                retire(connection, abandoned.id)
            connection.execute("RESET statement_timeout")
        assert retire(connection, abandoned.id)
    assert partitions(built) == built.generation_tables()


def test_an_interrupted_detachment_does_not_stop_that_of_another_generation(built: Stages) -> None:
    """PostgreSQL refuses to detach a partition while another detachment is unfinished, of whichever collection."""
    abandoned = [surplus_generation(built, tokens) for tokens in (128, 96)]
    with built.connection() as connection, built.connection() as reader:
        with reader.transaction():
            reader.execute("SELECT 1 FROM search_entry LIMIT 1")
            connection.execute("SET statement_timeout = '300ms'")
            with pytest.raises(psycopg.errors.QueryCanceled):
                retire(connection, abandoned[0])
            connection.execute("RESET statement_timeout")
        assert retire(connection, abandoned[1])
        assert retire(connection, abandoned[0])
    assert partitions(built) == built.generation_tables()


def test_two_retirements_at_once_wait_for_each_other(built: Stages) -> None:
    """As where two collections change their generations in the same moment."""
    abandoned = [surplus_generation(built, tokens) for tokens in (128, 96)]
    with (
        built.connection() as first,
        built.connection() as second,
        built.connection() as reader,
        ThreadPoolExecutor(2) as beside,
    ):
        with reader.transaction():
            reader.execute("SELECT 1 FROM search_entry LIMIT 1")
            results = [beside.submit(retire, first, abandoned[0]), beside.submit(retire, second, abandoned[1])]
            wait_until(lambda: is_blocked(built), what="one of them waits for the reader")
        assert [result.result(60) for result in results] == [True, True]
    assert partitions(built) == built.generation_tables()


def test_a_search_is_not_stopped_by_a_retirement(built: Stages) -> None:
    """A search that reads while a partition is detached neither waits nor fails."""
    configure(built, 128)
    built.run()
    abandoned = generations(built).building
    assert abandoned is not None
    configure(built, 64)
    with built.connection() as connection:
        ensure_generations(connection, built.collection)
        assert not activation.seconds_to_retirement(generations(built), abandoned)
        assert retire(connection, abandoned.id)
    assert built.found("tide") == {"tide.md"}


@pytest.mark.parametrize("ahead", [-30, 30])
def test_searches_keep_their_generation_where_clocks_differ(built: Stages, ahead: int) -> None:
    """The server's clock is half a minute ahead of this one, or behind it."""
    first = built.generation
    configure(built, 128, keep=0)
    built.run()
    built.finish()
    built.rows(f"UPDATE activation SET activated_at = now() + interval '{ahead} s' RETURNING 1")
    assert 25 < activation.seconds_to_retirement(generations(built), first) < 35
    built.finish()
    assert f"search_entry_{first.id}" in partitions(built)


@pytest.mark.parametrize("state", ["active", "building"])
def test_a_generation_in_use_is_not_deleted(built: Stages, state: str) -> None:
    configure(built, 128)
    built.chunks()
    found = generations(built)
    generation = found.active if state == "active" else found.building
    assert generation is not None
    with built.connection() as connection:
        assert not retire(connection, generation.id)
    assert f"search_entry_{generation.id}" in partitions(built)
