"""Limits of requests and tokens a minute, shared in PostgreSQL by all who ask a provider."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.database.database import Database
from sourcebook.providers.limits import NoLimits, Taken, limits_of

Take = Callable[..., Taken]


def settings(**values: Any) -> EmbeddingSettings:
    return EmbeddingSettings.model_validate(
        {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1", **values}
    )


def pass_time(database: Database, seconds: float) -> None:
    """Let the ends of all requests, and their beginnings, be so long ago."""
    with database.connection() as connection:
        connection.execute(
            "UPDATE provider_request SET taken_at = taken_at - %(time)s, ended_at = ended_at - %(time)s",
            {"time": timedelta(seconds=seconds)},
        )


def test_many_at_once_stay_below_the_limit(database: Database) -> None:
    """Thirty-two requests of sixteen connections at once: exactly the allowed ones begin, and the others wait."""
    limits = limits_of(database.connection, settings(requests_per_minute=5), "handbook")
    with ThreadPoolExecutor(16) as executor:
        taken = list(executor.map(lambda _: limits.take(1), range(32)))
    begun = [each for each in taken if each.request is not None]
    assert len(begun) == 5
    assert all(each.seconds > 0 for each in taken if each.request is None)


def test_a_request_counts_until_a_minute_after_its_end(database: Database) -> None:
    """A provider counts it at some moment between beginning and end: no minute of its clock holds more."""
    limits = limits_of(database.connection, settings(requests_per_minute=1), "handbook")
    first = limits.take(1)
    pass_time(database, 100)  # a slow answer
    assert limits.take(1).request is None
    limits.end(first, 1)
    pass_time(database, 59)
    waiting = limits.take(1)
    assert waiting.request is None
    assert 0 < waiting.seconds < 1.5
    pass_time(database, 1.5)
    assert limits.take(1).request is not None


def test_tokens_are_reserved_and_given_back(database: Database) -> None:
    """The most that a request can have is held until the provider has counted."""
    limits = limits_of(database.connection, settings(tokens_per_minute=100), "handbook")
    first = limits.take(80)
    assert limits.take(30).request is None
    limits.end(first, 20)
    second = limits.take(30)
    assert second.request is not None
    limits.end(second, None)  # it did not say: what was reserved counts
    assert limits.take(51).request is None
    assert limits.take(50).request is not None


def test_the_wait_ends_with_the_request_whose_end_makes_room(database: Database) -> None:
    limits = limits_of(database.connection, settings(tokens_per_minute=100), "handbook")
    for tokens in (60, 30):
        limits.end(limits.take(tokens), tokens)
        pass_time(database, 20)
    assert 19 < limits.take(50).seconds < 21  # the first, which ended 40 s ago, makes room for 50 beside the second
    assert 39 < limits.take(80).seconds < 41


def test_a_text_larger_than_the_limit_waits_for_all_and_goes(database: Database) -> None:
    limits = limits_of(database.connection, settings(tokens_per_minute=100), "handbook")
    assert limits.take(5000).request is not None
    assert limits.take(1).request is None


def test_another_provider_or_key_has_limits_of_its_own(database: Database) -> None:
    one = limits_of(database.connection, settings(requests_per_minute=1), "handbook")
    key = limits_of(database.connection, settings(requests_per_minute=1, api_key_env="OTHER"), "handbook")
    url = limits_of(database.connection, settings(requests_per_minute=1, base_url="http://127.0.0.1:2/v1"), "handbook")
    assert [each.take(1).request is not None for each in (one, key, url, one)] == [True, True, True, False]


def test_a_killed_process_holds_nothing_for_ever(database: Database) -> None:
    """A request whose end nobody records is forgotten after fifteen minutes, the longest that one is waited for."""
    limits = limits_of(database.connection, settings(requests_per_minute=1), "handbook")
    limits.take(1)
    pass_time(database, 14 * 60)
    assert limits.take(1).request is None
    pass_time(database, 2 * 60)
    assert limits.take(1).request is not None
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM provider_request").fetchone() == (1,)


@pytest.mark.parametrize("has_ended", [True, False])
def test_a_clock_that_is_set_back_holds_nobody_for_longer(database: Database, has_ended: bool) -> None:
    """Requests that ended in an hour, as the clock now says, count for a minute; those without an end for fifteen."""
    limits = limits_of(database.connection, settings(requests_per_minute=1), "handbook")
    first = limits.take(1)
    if has_ended:
        limits.end(first, 1)
    pass_time(database, -3_600)
    waiting = limits.take(1)
    assert waiting.request is None
    assert waiting.seconds < 61
    pass_time(database, 62 if has_ended else 16 * 60)
    assert limits.take(1).request is not None


def test_without_limits_nothing_is_written(database: Database) -> None:
    limits = limits_of(database.connection, settings(), "handbook")
    assert isinstance(limits, NoLimits)
    assert limits.take(10**9) == Taken(None)
