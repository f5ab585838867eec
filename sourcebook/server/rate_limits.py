"""Limits of requests: buckets of tokens in memory, one a key.

A bucket holds as many tokens as the limit allows requests a minute, and fills evenly. No request waits for the database
because of it. The processes of one server share the buckets; several servers count each for itself.
"""

import hashlib
import ipaddress
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from sourcebook.server.bucket_table import NAME, TABLES, Bucket, SharedBuckets
from sourcebook.server.problems import TooManyRequestsError

DEFAULT_LIMIT: Final = 600
"""Requests a minute of a key, where neither the key nor the server has another limit."""
PAGES: Final = 120
"""Requests a minute from one address with a key of pages, where the key has no other limit."""
WRONG_KEYS: Final = 30
"""Requests a minute with keys that are none: with one of them, and from one address."""
LOOKUPS: Final = 600
"""Unknown keys a minute that are looked up for an address that has sent too many wrong ones: another's may be right."""
BUCKET: Final = "sourcebook.bucket"
"""Key in the scope of a request: its bucket, once a token was taken from it."""
_LOCAL: Final = b"\xff" * NAME
"""The bucket of callers without a key."""
_WRONG: Final = b"wrong "
_LOOKED_UP: Final = b"looked up "
"""Beginnings of the names of buckets beside those of callers and of addresses."""
_TOO_MANY: Final = "too many keys from this address were not valid"
_IPV6_NETWORK: Final = 64
"""Bits of an IPv6 address that stand for one subscriber."""


class RateLimits:
    """The buckets of a server. Thread-safe.

    Args:
        default: requests a minute of a key without a limit of its own; None for no limit.
        local: requests a minute of all callers without a key together; None for no limit.
        wrong_keys: requests a minute with a key that is none, and from one address; None for no limit.
        clock: seconds that only rise, the same in every process.
        shared: the buckets, where several processes share them; None for those of this process alone.
    """

    def __init__(
        self,
        default: int | None = None,
        local: int | None = None,
        wrong_keys: int | None = WRONG_KEYS,
        clock: Callable[[], float] = time.monotonic,
        shared: SharedBuckets | None = None,
    ) -> None:
        self._default, self._local, self._wrong_keys, self._clock = default, local, wrong_keys, clock
        self._buckets = shared or SharedBuckets(TABLES)
        self._callers, self._addresses = self._buckets.tables

    def enter(self, text: bytes, address: str) -> Bucket | None:
        """Let a request in whose key is known; return its bucket, None where it is still to be looked up or has none.

        Args:
            text: what was sent as a key; empty where it is to be read from a form.
            address: address of the caller.

        Raises:
            TooManyRequestsError: the key has used up its requests, or was wrong too often; or so many wrong keys came
                from the address that no more are looked up.
        """
        name = _digest(text)
        with self._buckets.held():
            bucket = self._callers.find(name)
            if bucket is not None:
                return self._taken(name, bucket)
            now = self._clock()
            if text and self._is_used_up(_WRONG + text, now):
                raise self._refusal("this key is not valid, and was sent too often", _WRONG + text)
            if self._is_used_up(_of_network(address), now):
                lookups = _LOOKED_UP + _of_network(address)
                if not self._take(lookups, LOOKUPS, now):
                    raise self._refusal(_TOO_MANY, lookups)
        return None

    def admit_from(self, counted: bytes, address: str, limit: int) -> Bucket | None:
        """Let a request in that is counted by the address that it comes from; return the bucket.

        Args:
            counted: what is counted, such as the requests with a key that anybody can read.
            address: address of the caller.
            limit: such requests a minute from one address.

        Raises:
            TooManyRequestsError: the address has used up its requests.
        """
        return self.admit(b"\n%s from %s" % (counted, _of_network(address)), limit, "an address")

    def admit(self, text: bytes | None, limit: int | None, who: str = "this key") -> Bucket | None:
        """Remember a valid key, and let its request in; return its bucket.

        Args:
            text: what was sent as a key, or stands for it; None without one.
            limit: requests a minute of the key; None for the server's.
            who: what the sentence of a refusal calls the caller.

        Raises:
            TooManyRequestsError: the caller has used up its requests.
        """
        most = (self._local if text is None else limit or self._default) or 0
        name = _LOCAL if text is None else _digest(text)
        with self._buckets.held():
            return self._taken(name, self._callers.find(name) or Bucket(most, most, self._clock()), who)

    def refuse(self, text: bytes, address: str) -> TooManyRequestsError | None:
        """Count a key that was none, from an address; one that was valid before is forgotten.

        Returns:
            What the caller is told where too many were: its own key, or those from its address.
        """
        with self._buckets.held():
            self._callers.forget(_digest(text))
            if self._wrong_keys is None:
                return None
            now, network = self._clock(), _of_network(address)
            if text:
                self._take(_WRONG + text, self._wrong_keys, now)
            return None if self._take(network, self._wrong_keys, now) else self._refusal(_TOO_MANY, network)

    def _is_used_up(self, counted: bytes, now: float) -> bool:
        """Return whether nothing is left of what is counted beside callers; the lock is held."""
        bucket = self._addresses.find(_digest(counted))
        if bucket is not None:
            bucket.fill(now)
        return bucket is not None and bucket.tokens < 1

    def _take(self, counted: bytes, limit: int, now: float) -> bool:
        """Take a token of what is counted beside callers; return whether there was one; the lock is held."""
        name = _digest(counted)
        bucket = self._addresses.find(name) or Bucket(limit, limit, now)
        was_left = bucket.take(now)
        self._addresses.keep(name, bucket)
        return was_left

    def _refusal(self, said: str, counted: bytes) -> TooManyRequestsError:
        bucket = self._addresses.find(_digest(counted))
        return TooManyRequestsError(f"{said}: try again later", 1 if bucket is None else bucket.seconds_to_next)

    def _taken(self, name: bytes, bucket: Bucket, who: str = "this key") -> Bucket | None:
        """Return a caller's bucket with a token less, None for one without a limit; the lock is held."""
        is_let_in = bucket.take(self._clock())
        self._callers.keep(name, bucket)
        if not bucket.limit:
            return None
        if not is_let_in:
            said = f"{who} may send {bucket.limit:,} requests a minute, and has sent them"
            raise TooManyRequestsError(said, bucket.seconds_to_next, bucket.headers)
        return bucket


def _digest(text: bytes) -> bytes:
    """Return what stands for a key in memory: not the key itself."""
    return hashlib.sha256(text).digest()[:NAME]


def _of_network(address: str) -> bytes:
    """Return what stands for a caller: its address, of IPv6 the network."""
    if ":" in address:
        with suppress(ValueError):
            address = str(ipaddress.ip_network((address.partition("%")[0], _IPV6_NETWORK), strict=False))
    return address.encode(errors="replace")


def key_in(header: bytes) -> bytes:
    """Return the key that a header `Authorization` carries; the header itself where it is of another scheme."""
    scheme, _, text = header.partition(b" ")
    return text.strip() if scheme.lower() == b"bearer" else header
