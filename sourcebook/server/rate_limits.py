"""Limits of requests: buckets of tokens in the memory of this process, one a key.

A bucket holds as many tokens as the limit allows requests a minute, and fills evenly. No request waits for the database
because of it. Several server processes count each for itself.
"""

import hashlib
import ipaddress
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sourcebook.model.access import Grant
from sourcebook.server.problems import TooManyRequestsError

DEFAULT_LIMIT: Final = 600
"""Requests a minute of a key, where neither the key nor the server has another limit."""
WRONG_KEYS: Final = 30
"""Requests a minute with keys that are none, from one address."""
_WINDOW: Final = 60.0
"""Seconds that limits are counted for."""
_MOST_KEPT: Final = 10_000
"""Keys and addresses that are remembered, at most; the one that was used longest ago is forgotten first."""
BUCKET: Final = "sourcebook.bucket"
"""Key in the scope of a request: its bucket, once a token was taken from it."""
_LOCAL: Final = b""
"""The bucket of callers without a key."""
_IPV6_NETWORK: Final = 64
"""Bits of an IPv6 address that stand for one subscriber."""


@dataclass(slots=True)
class Bucket:
    """Requests that one caller may still send."""

    limit: int
    tokens: float
    filled_at: float

    def fill(self, now: float) -> None:
        """Add what has flowed in since the last time."""
        self.tokens = min(self.limit, self.tokens + (now - self.filled_at) * self.limit / _WINDOW)
        self.filled_at = now

    def take(self, now: float) -> bool:
        """Take a token; return whether there was one."""
        self.fill(now)
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    @property
    def seconds_to_next(self) -> int:
        """Seconds until there is a token."""
        return max(1, math.ceil((1 - self.tokens) * _WINDOW / self.limit))

    @property
    def seconds_to_full(self) -> int:
        """Seconds until the bucket is full."""
        return math.ceil((self.limit - self.tokens) * _WINDOW / self.limit)

    @property
    def headers(self) -> dict[str, str]:
        """Headers that tell a client: three that many know, and the two of the IETF's draft 10."""
        remaining, reset = int(self.tokens), self.seconds_to_full
        return {
            "ratelimit-limit": str(self.limit),
            "ratelimit-remaining": str(remaining),
            "ratelimit-reset": str(reset),
            "ratelimit-policy": f'"key";q={self.limit};w={_WINDOW:.0f}',
            "ratelimit": f'"key";r={remaining};t={reset}',
        }


class RateLimits:
    """The buckets of a server process. Thread-safe.

    Args:
        default: requests a minute of a key without a limit of its own; None for no limit.
        local: requests a minute of all callers without a key together; None for no limit.
        wrong_keys: requests a minute with keys that are none, from one address; None for no limit.
        clock: seconds that only rise.
    """

    def __init__(
        self,
        default: int | None = None,
        local: int | None = None,
        wrong_keys: int | None = WRONG_KEYS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._default, self._local, self._wrong_keys, self._clock = default, local, wrong_keys, clock
        self._lock = threading.Lock()
        self._callers: OrderedDict[bytes, Bucket | None] = OrderedDict()
        self._addresses: OrderedDict[str, Bucket] = OrderedDict()

    def enter(self, text: bytes, address: str) -> Bucket | None:
        """Let a request in whose key is known; return its bucket, None where it is still to be looked up or has none.

        Args:
            text: what was sent as a key.
            address: address of the caller.

        Raises:
            TooManyRequestsError: the key has used up its requests, or the address has sent too many wrong keys.
        """
        name = _digest(text)
        with self._lock:
            if name in self._callers:
                self._callers.move_to_end(name)
                bucket = self._callers[name]
                return None if bucket is None else self._taken(bucket)
            if self._wrong_keys is not None and self._addresses:
                guesses = self._addresses.get(_network(address))
                if guesses is not None:
                    guesses.fill(self._clock())
                    if guesses.tokens < 1:
                        said = "too many keys from this address were not valid: try again later"
                        raise TooManyRequestsError(said, guesses.seconds_to_next)
        return None

    def admit(self, text: bytes | None, grant: Grant, limit: int | None) -> Bucket | None:
        """Remember a valid key, and let its request in; return its bucket.

        Args:
            text: what was sent as a key; None without one.
            grant: what the caller may do.
            limit: requests a minute of the key; None for the server's.

        Raises:
            TooManyRequestsError: the caller has used up its requests.
        """
        is_local = grant.key_id is None
        most = self._local if is_local else limit or self._default
        name = _LOCAL if is_local or text is None else _digest(text)
        with self._lock:
            if name not in self._callers:
                self._callers[name] = None if most is None else Bucket(most, most, self._clock())
                _forget_oldest(self._callers)
            bucket = self._callers[name]
            return None if bucket is None else self._taken(bucket)

    def refuse(self, text: bytes, address: str) -> None:
        """Count a key that was none, from an address; one that was valid before is forgotten."""
        with self._lock:
            self._callers.pop(_digest(text), None)
            if self._wrong_keys is not None:
                network, now = _network(address), self._clock()
                bucket = self._addresses.setdefault(network, Bucket(self._wrong_keys, self._wrong_keys, now))
                self._addresses.move_to_end(network)
                bucket.take(now)
                _forget_oldest(self._addresses)

    def _taken(self, bucket: Bucket) -> Bucket:
        if not bucket.take(self._clock()):
            said = f"this key may send {bucket.limit:,} requests a minute, and has sent them"
            raise TooManyRequestsError(said, bucket.seconds_to_next, bucket.headers)
        return bucket


def _forget_oldest(kept: "OrderedDict[bytes, Bucket | None] | OrderedDict[str, Bucket]") -> None:
    while len(kept) > _MOST_KEPT:
        kept.popitem(last=False)


def _digest(text: bytes) -> bytes:
    """Return what stands for a key in memory: not the key itself."""
    return hashlib.sha256(text).digest()


def _network(address: str) -> str:
    """Return what stands for a caller: its address, of IPv6 the network."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address.partition("%")[0], _IPV6_NETWORK), strict=False))
    except ValueError:
        return address


def key_in(header: bytes) -> bytes:
    """Return the key that a header `Authorization` carries; the header itself where it is of another scheme."""
    scheme, _, text = header.partition(b" ")
    return text.strip() if scheme.lower() == b"bearer" else header
