"""Public keys of an issuer (JWKS, RFC 7517): kept for a time, and fetched again where a token names an unknown one."""

import logging
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final

import httpx2

from sourcebook.providers.failures import Cure, RequestFailedError, invalid, of_connection
from sourcebook.providers.streamed_answer import Sockets, StreamedAnswer
from sourcebook.server.identity.token_settings import TokenSettings, is_guarded_url
from sourcebook.server.problems import IssuerError, TokenError

SECONDS: Final = 5.0
"""Seconds for the discovery and the keys, from the first connection to the last byte."""
FRESH: Final = 600.0
"""Seconds after which keys are fetched again."""
USABLE: Final = 3_600.0
"""Seconds for which known keys are used where the issuer does not answer."""
PAUSE: Final = 10.0
"""Seconds between two attempts, however many tokens name an unknown key."""
MOST_BYTES: Final = 1 << 20
_KINDS: Final = frozenset({"RSA", "EC", "OKP"})
_log = logging.getLogger(__name__)


class SigningKeys:
    """The keys of one issuer. Thread-safe; a token whose key is fresh waits for no other request.

    Args:
        settings: whose keys they are.
        clock: seconds that only rise.
    """

    def __init__(self, settings: TokenSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._clock = settings, clock
        self._keys: Mapping[str | None, Mapping[str, Any]] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._failure = ""
        self._fetching = Lock()

    def find(self, name: str | None) -> Mapping[str, Any]:
        """Return a key by its `kid`; without one the only key of the issuer.

        Raises:
            TokenError: the issuer has no such key.
            IssuerError: the issuer does not tell its keys.
        """
        known = self._known(name)
        if known is not None and self._clock() - self._fetched_at < FRESH:
            return known
        if self._fetching.acquire(blocking=known is None):
            try:
                self._fetch_unless_tried()
            finally:
                self._fetching.release()
            known = self._known(name)
        if known is not None:
            return known
        if self._failure:
            raise IssuerError(f"the keys of tokens cannot be had: {self._failure}", round(PAUSE))
        raise TokenError("the token is signed with a key that its issuer does not have")

    def _known(self, name: str | None) -> Mapping[str, Any] | None:
        keys = self._keys if self._clock() - self._fetched_at < USABLE else {}
        return next(iter(keys.values())) if name is None and len(keys) == 1 else keys.get(name)

    def _fetch_unless_tried(self) -> None:
        if self._clock() - self._tried_at < PAUSE:
            return
        try:
            self._keys = _named(_fetched(self._settings))
        except RequestFailedError as error:
            self._failure = f"the issuer {error}"
            _log.warning("%s: %s", self._settings.issuer, self._failure)
        else:
            self._failure, self._fetched_at = "", self._clock()
        self._tried_at = self._clock()


def _fetched(settings: TokenSettings) -> object:
    """Return what the issuer publishes as its keys."""
    deadline = time.monotonic() + SECONDS
    if settings.jwks_url is not None:
        return _get(settings.jwks_url, deadline)
    told = _get(settings.discovery_url, deadline)
    url = told.get("jwks_uri") if isinstance(told, dict) else None
    if not isinstance(told, dict) or told.get("issuer") != settings.issuer or not is_guarded_url(url):
        raise invalid("its discovery names another issuer, or no https URL of keys")
    return _get(str(url), deadline)


def _get(url: str, deadline: float) -> object:
    """Return the JSON at a URL, within bounds of time and size."""
    sockets = Sockets()
    with sockets.within(deadline - time.monotonic()) as expired:
        try:
            return _answer(url, deadline, sockets)
        except RequestFailedError as failure:
            raise (of_connection(failure, timed_out=True) if expired.is_set() else failure) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            timed_out = expired.is_set() or isinstance(error, httpx2.TimeoutException)
            raise of_connection(error, timed_out=timed_out) from None


def _answer(url: str, deadline: float, sockets: Sockets) -> object:
    """Return the JSON at a URL by one request, which leads to no other."""
    hooks = {"request": [sockets.watch]}
    with (
        httpx2.Client(timeout=SECONDS, follow_redirects=False, event_hooks=hooks) as client,
        client.stream("GET", url, headers={"Accept": "application/json"}) as response,
    ):
        if response.status_code != httpx2.codes.OK:
            raise RequestFailedError(f"answers with status {response.status_code}", Cure.RETRY)
        return StreamedAnswer(response, deadline, MOST_BYTES).json()


def _named(published: object) -> Mapping[str | None, Mapping[str, Any]]:
    """Return the keys that sign, by their `kid`."""
    listed = published.get("keys") if isinstance(published, dict) else None
    found: dict[str | None, Mapping[str, Any]] = {}
    for key in listed if isinstance(listed, list) else []:
        if isinstance(key, dict) and key.get("use", "sig") == "sig" and key.get("kty") in _KINDS:
            name = key.get("kid")
            found.setdefault(name if isinstance(name, str) else None, key)
    if not found:
        raise invalid("it has no key that signs")
    return found
