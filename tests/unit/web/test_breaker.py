"""A host that fails again and again is left alone."""

from datetime import UTC, datetime, timedelta

import pytest

from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.http_types import FetchError
from tests.waiting import wait_until

HOST = "docs.example.com"


def fail(breaker: CircuitBreaker, times: int, host: str = HOST) -> None:
    for _ in range(times):
        breaker.failed(host, "connection refused")


def test_it_refuses_after_five_failures_in_a_row() -> None:
    """Four are forgiven; the fifth opens it for a minute, and it says when that ends and why."""
    breaker = CircuitBreaker()
    fail(breaker, 4)
    assert breaker.refusal(HOST) is None
    fail(breaker, 1)
    refusal = breaker.refusal(HOST)
    assert refusal is not None
    assert refusal.host_failed
    assert refusal.transient
    assert refusal.retry_after is not None
    assert timedelta(seconds=59) < refusal.retry_after <= timedelta(seconds=60)
    assert "5 times in a row" in str(refusal)
    assert "connection refused" in str(refusal)
    again = datetime.now(UTC) + refusal.retry_after
    near = {f"until {again + timedelta(seconds=off):%H:%M:%S} UTC" for off in (-1, 0, 1)}
    assert any(moment in str(refusal) for moment in near)
    with pytest.raises(FetchError), breaker.admission(HOST):
        pass


def test_a_success_in_between_forgives_all() -> None:
    """Only failures in a row count, and only those of the same host."""
    breaker = CircuitBreaker()
    fail(breaker, 4)
    fail(breaker, 4, "other.example.com")
    breaker.succeeded(HOST)
    fail(breaker, 4)
    assert breaker.refusal(HOST) is None
    assert breaker.refusal("other.example.com") is None


def test_one_request_tries_the_host_when_the_time_is_over() -> None:
    """While the trial is under way nothing else goes through; its success ends the refusals."""
    breaker = CircuitBreaker(failures=2, pause=0.05)
    fail(breaker, 2)
    wait_until(lambda: breaker.refusal(HOST) is None, every=0.001)
    with breaker.admission(HOST):
        assert breaker.refusal(HOST) is not None
        breaker.succeeded(HOST)
    fail(breaker, 1)
    assert breaker.refusal(HOST) is None


def test_a_trial_that_fails_doubles_the_time_up_to_the_longest() -> None:
    """A host that stays away is asked ever less."""
    breaker = CircuitBreaker(failures=1, pause=0.02, longest=0.05)
    pauses = []
    for _ in range(4):
        with breaker.admission(HOST):
            fail(breaker, 1)
        refusal = breaker.refusal(HOST)
        assert refusal is not None
        assert refusal.retry_after is not None
        pauses.append(refusal.retry_after.total_seconds())
        wait_until(lambda: breaker.refusal(HOST) is None, every=0.001)
    assert pauses == pytest.approx([0.02, 0.04, 0.05, 0.05], abs=0.01)


def test_a_trial_that_is_given_up_lets_the_next_one_try() -> None:
    """A cancelled request does not keep the host shut for ever."""
    breaker = CircuitBreaker(failures=1, pause=0.01)
    fail(breaker, 1)
    wait_until(lambda: breaker.refusal(HOST) is None, every=0.001)
    with pytest.raises(KeyboardInterrupt), breaker.admission(HOST):
        raise KeyboardInterrupt
    with breaker.admission(HOST):
        pass


def test_failures_that_were_under_way_do_not_prolong_it() -> None:
    """Eight requests that fail at once open it once."""
    breaker = CircuitBreaker(failures=5, pause=60)
    fail(breaker, 8)
    refusal = breaker.refusal(HOST)
    assert refusal is not None
    assert refusal.retry_after is not None
    assert refusal.retry_after <= timedelta(seconds=60)
