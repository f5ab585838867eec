"""The issuer as the page's provider of sign-ins: OpenID Connect, authorization code flow with PKCE."""

import base64
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, Final
from urllib.parse import quote_plus, urlencode, urlsplit

from sourcebook.admin.provider_sessions import Renewal
from sourcebook.contract.access import Person, ProviderLogout
from sourcebook.providers.failures import RequestFailedError, invalid
from sourcebook.server.identity.attempts import Attempt
from sourcebook.server.identity.guarded_urls import is_guarded_url
from sourcebook.server.identity.issuer_requests import RefusedError, post_form
from sourcebook.server.identity.sign_in_settings import SECRET_VARIABLE, SignInSettings
from sourcebook.server.identity.signing_keys import FRESH, PAUSE, SECONDS, discovered
from sourcebook.server.identity.token_settings import TokenSettings
from sourcebook.server.identity.tokens import LONGEST, Tokens
from sourcebook.server.problems import IssuerError, TokenError

_log = logging.getLogger(__name__)
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint")


class Provider:
    """The provider of sign-ins of one server. Thread-safe.

    Args:
        settings: the issuer, and what its tokens open.
        sign_in: the page as a client of the issuer.
        tokens: checks of its tokens.
        clock: seconds that only rise.
    """

    def __init__(
        self,
        settings: TokenSettings,
        sign_in: SignInSettings,
        tokens: Tokens,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings, self.sign_in = settings, sign_in
        self._tokens, self._clock = tokens, clock
        self._told: Mapping[str, Any] = {}
        self._told_at = self._tried_at = float("-inf")
        self._failure = ""
        self._asking = Lock()

    @property
    def name(self) -> str:
        """Name of the provider on the button."""
        return self.sign_in.name or urlsplit(self.settings.issuer).hostname or self.settings.issuer

    def address_for(self, attempt: Attempt) -> str:
        """Return the address of the provider at which a browser begins a sign-in.

        Raises:
            IssuerError: the provider does not tell it.
        """
        asked = {
            "response_type": "code",
            "client_id": self.sign_in.client_id,
            "redirect_uri": self.sign_in.return_url,
            "scope": " ".join(self.sign_in.scope),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return _with(self._discovered()["authorization_endpoint"], asked)

    def person_for(self, code: str, attempt: Attempt) -> tuple[Person, str | None]:
        """Return who has signed in, by the code with which a browser came back; and a refresh token, if there is one.

        Raises:
            TokenError: the provider does not take the code, or its ID token is not for this sign-in.
            IssuerError: the provider does not answer.
        """
        redeemed = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.sign_in.return_url,
            "code_verifier": attempt.verifier,
        }
        try:
            answer = self._asked(redeemed)
            token = answer.get("id_token")
            if not isinstance(token, str):
                raise invalid("it has no ID token: is openid in the scope")
        except RefusedError as error:
            _log.warning(
                "%s %s a code of the page: compare client_id, the redirect URI %s and %s with what it knows",
                *(self.settings.issuer, error, self.sign_in.return_url, SECRET_VARIABLE),
            )
            raise TokenError("the provider does not take the code: it may have been used, or be too old") from None
        except RequestFailedError as error:
            raise self._unavailable(error) from None
        return self._tokens.person_of(token, self.sign_in.client_id, attempt.nonce), _refresh_token(answer)

    def renewed(self, before: Person, refresh_token: str) -> Renewal:
        """Return who a person is now, by a refresh token (OpenID Connect Core 1.0, 12.2), and the next one.

        Without an ID token in the answer the person is as before. An answer about somebody else is a refusal.
        """
        try:
            answer = self._asked({"grant_type": "refresh_token", "refresh_token": refresh_token})
            token = answer.get("id_token")
            if token is not None and not isinstance(token, str):
                raise invalid("its ID token is no text")
            now = before if token is None else self._tokens.person_of(token, self.sign_in.client_id, None)
        except (RefusedError, TokenError) as error:
            _log.info("%s ends a session: %s", self.settings.issuer, error)
            return "refused"
        except (RequestFailedError, IssuerError) as error:
            _log.warning("%s does not renew a session now: %s", self.settings.issuer, error)
            return "unavailable"
        if now.subject != before.subject:
            _log.warning("%s has renewed a session for another person, which ends", self.settings.issuer)
            return "refused"
        return replace(now, session=before.session), _refresh_token(answer) or refresh_token

    def logout_for(self, token: str) -> ProviderLogout:
        """Return which sessions the provider has ended, by its logout token; see `Tokens.logout_of`."""
        return self._tokens.logout_of(token, self.sign_in.client_id)

    def _asked(self, fields: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the tokens that answer a form.

        Raises:
            RequestFailedError: the provider refuses it, or does not answer.
            IssuerError: the provider does not tell where it takes it.
        """
        told = self._discovered()
        form, headers = self._authenticated(told, fields)
        answer = post_form(told["token_endpoint"], form, headers, time.monotonic() + SECONDS)
        return answer if isinstance(answer, dict) else {}

    def _authenticated(
        self, told: Mapping[str, Any], asked: Mapping[str, str]
    ) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Return a form and the headers with which the page shows who it is."""
        client, secret = self.sign_in.client_id, self.sign_in.secret
        fields = {**asked, "client_id": client}
        if secret is None:
            return fields, {}
        if "client_secret_basic" not in _ways(told):
            return {**fields, "client_secret": secret}, {}
        both = f"{quote_plus(client)}:{quote_plus(secret)}"  # RFC 6749, 2.3.1
        return fields, {"Authorization": f"Basic {base64.b64encode(both.encode()).decode()}"}

    def end_address(self) -> str | None:
        """Return the address at which a browser signs out of the provider, too; None where it has none."""
        try:
            found = self._discovered().get("end_session_endpoint")
        except IssuerError:
            return None
        back = {"client_id": self.sign_in.client_id, "post_logout_redirect_uri": f"{self.sign_in.url}/sign-in"}
        return _with(str(found), back) if is_guarded_url(found) else None

    def _discovered(self) -> Mapping[str, Any]:
        with self._asking:
            now = self._clock()
            if now - self._told_at >= FRESH:
                if now - self._tried_at < PAUSE:
                    raise IssuerError(self._failure, round(PAUSE))
                self._tried_at = now
                try:
                    self._told = _complete(discovered(self.settings, time.monotonic() + SECONDS))
                except RequestFailedError as error:
                    raise self._unavailable(error) from None
                self._told_at = self._clock()
            return self._told

    def _unavailable(self, error: RequestFailedError) -> IssuerError:
        self._failure = f"nobody can sign in at {self.name} now: it {error}"
        _log.warning("%s: %s", self.settings.issuer, self._failure)
        return IssuerError(self._failure, round(PAUSE))


def _complete(told: Mapping[str, Any]) -> Mapping[str, Any]:
    missing = [name for name in _ENDPOINTS if not is_guarded_url(told.get(name))]
    if missing:
        raise invalid(f"its discovery names no https URL as {' and '.join(missing)}")
    return told


def _refresh_token(answer: Mapping[str, Any]) -> str | None:
    token = answer.get("refresh_token")
    return token if isinstance(token, str) and 0 < len(token) <= LONGEST else None


def _ways(told: Mapping[str, Any]) -> list[Any]:
    """Return how the provider is shown a secret."""
    listed = told.get("token_endpoint_auth_methods_supported")
    return listed if isinstance(listed, list) else ["client_secret_basic"]


def _with(url: str, asked: Mapping[str, str]) -> str:
    """Return a URL with further parameters."""
    return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(asked)}"
