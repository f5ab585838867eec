"""Buckets of tokens: how many requests pass in how much time, and how much memory they take."""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass

import pytest

from sourcebook.errors import SourcebookError
from sourcebook.model.access import Grant
from sourcebook.model.web_origins import check_origin
from sourcebook.server.bucket_table import MOST_KEPT, TABLES, SharedBuckets, shared_file
from sourcebook.server.problems import TooManyRequestsError
from sourcebook.server.rate_limits import LOOKUPS, RateLimits
from tests.checkout import CHECKOUT

KEY = Grant("key website", key_id=7)


@dataclass
class Clock:
    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def passed(limits: RateLimits, requests: int, text: bytes = b"sb_a") -> int:
    """Return how many of some requests with a known key pass."""
    found = 0
    for _ in range(requests):
        try:
            limits.enter(text, "192.0.2.1")
        except TooManyRequestsError:
            continue
        found += 1
    return found


def test_a_key_sends_its_limit_at_once_and_then_evenly() -> None:
    clock = Clock()
    limits = RateLimits(600, clock=clock)
    assert limits.enter(b"sb_a", "192.0.2.1") is None  # not known yet: it is looked up
    bucket = limits.admit(b"sb_a", 60)
    assert bucket is not None
    assert passed(limits, 100) == 59
    clock.seconds += 10
    assert passed(limits, 100) == 10
    clock.seconds += 3_600
    assert passed(limits, 100) == 60
    clock.seconds += 0.5
    with pytest.raises(TooManyRequestsError) as refused:
        limits.enter(b"sb_a", "192.0.2.1")
    assert refused.value.seconds == 1
    assert refused.value.headers == {
        "ratelimit-limit": "60",
        "ratelimit-remaining": "0",
        "ratelimit-reset": "60",
        "ratelimit-policy": '"key";q=60;w=60',
        "ratelimit": '"key";r=0;t=60',
    }


def test_keys_are_counted_apart_and_the_server_has_a_limit_for_those_without() -> None:
    limits = RateLimits(2, clock=Clock())
    limits.admit(b"sb_a", None)
    limits.admit(b"sb_b", 5)
    assert (passed(limits, 9, b"sb_a"), passed(limits, 9, b"sb_b")) == (1, 4)
    free = RateLimits(clock=Clock())
    assert free.admit(b"sb_a", None) is None
    assert passed(free, 1_000) == 1_000


def test_callers_without_a_key_have_a_limit_where_they_are_given_one() -> None:
    limits = RateLimits(600, local=3, clock=Clock())
    for _ in range(3):
        assert limits.admit(None, None) is not None
    with pytest.raises(TooManyRequestsError):
        limits.admit(None, None)
    assert RateLimits(600).admit(None, None) is None


def test_wrong_keys_slow_down_themselves_and_their_address() -> None:
    """Beyond the limit a wrong key is told so, at its address; one that was sent too often is not looked up again."""
    clock = Clock()
    limits = RateLimits(None, wrong_keys=3, clock=clock)
    for number in range(3):
        guess = f"sb_{number}".encode()
        limits.enter(guess, "2001:db8:0:1::5")
        assert limits.refuse(guess, "2001:db8:0:1::5") is None
    said = limits.refuse(b"sb_4", "2001:db8:0:1:ffff::1")  # the next address of the same network
    assert said is not None
    assert said.seconds == 20
    assert limits.refuse(b"sb_5", "2001:db8:0:2::1") is None
    clock.seconds += 21
    assert limits.refuse(b"sb_4", "2001:db8:0:1::5") is None
    for _ in range(3):
        limits.refuse(b"sb_old", "192.0.2.1")
    with pytest.raises(TooManyRequestsError):
        limits.enter(b"sb_old", "198.51.100.7")


def test_right_keys_pass_beside_wrong_ones_of_their_address() -> None:
    """A colleague behind the same proxy is let in, known or not, unless the wrong keys are a flood."""
    limits = RateLimits(None, wrong_keys=3, clock=Clock())
    limits.admit(b"sb_known", None)
    for number in range(200):
        limits.enter(f"sb_{number}".encode(), "192.0.2.1")
        limits.refuse(f"sb_{number}".encode(), "192.0.2.1")
    limits.enter(b"sb_known", "192.0.2.1")
    assert limits.enter(b"sb_new", "192.0.2.1") is None
    assert limits.enter(b"", "192.0.2.1") is None  # a key in a form
    assert limits.admit(b"sb_new", None) is None
    for number in range(LOOKUPS):
        with suppress(TooManyRequestsError):
            limits.enter(f"sb_{number} again".encode(), "192.0.2.1")
    with pytest.raises(TooManyRequestsError):
        limits.enter(b"sb_newer", "192.0.2.1")
    limits.enter(b"sb_new", "192.0.2.1")
    limits.enter(b"sb_other", "192.0.2.2")


def test_a_key_that_was_revoked_is_no_longer_known() -> None:
    limits = RateLimits(None, wrong_keys=1, clock=Clock())
    limits.admit(b"sb_a", None)
    limits.refuse(b"sb_a", "192.0.2.1")
    with pytest.raises(TooManyRequestsError):
        limits.enter(b"sb_a", "192.0.2.1")


def test_memory_is_bounded_and_who_came_last_is_remembered() -> None:
    clock = Clock()
    limits = RateLimits(2, wrong_keys=30, clock=clock)
    for number in range(18_000):
        clock.seconds += 0.001
        limits.refuse(b"sb_guess", f"192.0.{number // 256}.{number % 256}")
        limits.admit(f"sb_{number}".encode(), None)
    assert 12_000 < len(limits._addresses) <= MOST_KEPT
    assert 12_000 < len(limits._callers) <= MOST_KEPT
    assert [passed(limits, 9, f"sb_{number}".encode()) for number in range(17_500, 18_000)] == [1] * 500


HOLDING = """
import hashlib, signal, sys
from sourcebook.server.bucket_table import NAME, SharedBuckets
shared = SharedBuckets(2, int(sys.argv[1]))
with shared.held():
    name = hashlib.sha256(b"sb_a").digest()[:NAME]
    bucket = shared.tables[0].find(name)
    bucket.tokens -= 20
    shared.tables[0].keep(name, bucket)
    print("held", flush=True)
    signal.pause()
"""


def test_processes_share_the_buckets_and_a_killed_one_leaves_no_lock() -> None:
    descriptor = shared_file(TABLES)
    try:
        limits = RateLimits(60, clock=Clock(), shared=SharedBuckets(TABLES, descriptor))
        limits.admit(b"sb_a", None)
        program = [sys.executable, "-c", HOLDING, str(descriptor)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, pass_fds=[descriptor], cwd=CHECKOUT) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == b"held\n"
            other.kill()
        assert passed(limits, 100) == 39
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("origin", ["https://intranet.example", "http://localhost:3000", "https://[2001:db8::1]:8443"])
def test_origins_are_those_that_browsers_send(origin: str) -> None:
    check_origin(origin)


@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "",
        "null",
        "intranet.example",
        "https://",
        "https://a.example/",
        "https://*.example",
        "ftp://a.example",
        "https://A.example",
        "https://u@a.example",
        "https://a.example?b",
        "https://a.example:0",
        "https://a.example:443",
        "https://a.example;script-src",
        "https://[a",
    ],
)
def test_what_is_no_origin_is_refused(origin: str) -> None:
    with pytest.raises(SourcebookError, match="is no origin"):
        check_origin(origin)
