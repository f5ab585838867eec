"""Public keys of an issuer (JWKS, RFC 7517): kept for a time, and fetched again where a token names an unknown one."""

import logging
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final

from sourcebook.providers.failures import RequestFailedError, invalid
from sourcebook.server.identity.guarded_urls import is_guarded_url
from sourcebook.server.identity.issuer_requests import get_json
from sourcebook.server.identity.token_settings import TokenSettings
from sourcebook.server.problems import IssuerError, TokenError

SECONDS: Final = 5.0
"""Seconds for the discovery and the keys, from the first connection to the last byte."""
FRESH: Final = 600.0
"""Seconds after which keys are fetched again."""
USABLE: Final = 3_600.0
"""Seconds for which known keys are used where the issuer does not answer."""
PAUSE: Final = 10.0
"""Seconds between two attempts, however many tokens name an unknown key."""
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
        return get_json(settings.jwks_url, deadline)
    url = discovered(settings, deadline).get("jwks_uri")
    if not is_guarded_url(url):
        raise invalid("its discovery names no https URL of keys")
    return get_json(str(url), deadline)


def discovered(settings: TokenSettings, deadline: float) -> Mapping[str, Any]:
    """Return the discovery document of the issuer (OpenID Connect Discovery 1.0, 4), which names no other one.

    Raises:
        RequestFailedError: it cannot be had.
    """
    told = get_json(settings.discovery_url, deadline)
    if not isinstance(told, dict) or told.get("issuer") != settings.issuer:
        raise invalid("its discovery names another issuer")
    return told


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
