"""Signed tokens (JWT, RFC 7519): whether one is its issuer's and for this server, and for whom it asks.

Nothing that its header says is believed: the algorithm must be one of the settings, and fit the key that the issuer
publishes under the `kid`. Keys and URLs in it (`jwk`, `jku`, `x5c`, `x5u`) are not read.
"""

import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jwt

from sourcebook.config.principals import GROUP, MOST, USER, principal_set
from sourcebook.contract.access import Person, ProviderLogout
from sourcebook.model.access import Grant, asker_for
from sourcebook.server.identity.signing_keys import SigningKeys
from sourcebook.server.identity.token_settings import TokenSettings
from sourcebook.server.problems import TokenError

LONGEST: Final = 1 << 18
"""Characters of a token: room for the names of ten thousand groups."""
_LONGEST_SHOWN: Final = 80
_LONGEST_NAME: Final = 1_000
"""Characters of a subject, a session or a number of a token, at most."""
_LOGOUT: Final = "http://schemas.openid.net/event/backchannel-logout"
_REASONS: Final[tuple[tuple[type[jwt.PyJWTError], str], ...]] = (
    (jwt.ExpiredSignatureError, "it has expired"),
    (jwt.ImmatureSignatureError, "it is not valid yet"),
    (jwt.InvalidAudienceError, "it is for another audience"),
    (jwt.InvalidIssuerError, "another issuer made it"),
    (jwt.MissingRequiredClaimError, "it lacks one of iss, aud, exp; an ID token also iat, sub; of a logout iat, jti"),
    (jwt.InvalidAlgorithmError, "its algorithm is not allowed"),
    (jwt.InvalidSignatureError, "its signature is wrong"),
)
"""Reasons for which a token is refused, without anything that it says."""


class Tokens:
    """Tokens of one issuer. Thread-safe.

    Args:
        settings: whose tokens are taken, and what they open.
        keys: the issuer's keys.
    """

    def __init__(self, settings: TokenSettings, keys: SigningKeys | None = None) -> None:
        self._settings = settings
        self._keys = keys or SigningKeys(settings)

    def grant_of(self, token: str) -> Grant:
        """Return what the bearer of a token may do, and for whom it asks.

        Raises:
            TokenError: it is none of the issuer's for this server, or is not valid now.
            IssuerError: the issuer does not tell its keys.
        """
        return self.grant_for(_principals(self._verified(token, self._settings.audiences), self._settings))

    def grant_for(self, principals: frozenset[str]) -> Grant:
        """Return what a person whom the issuer has named may do."""
        return Grant("token", self._settings.scopes, self._settings.collections, None, asker_for(principals))

    def person_of(self, token: str, client: str, nonce: str | None) -> Person:
        """Return the person who has signed in, by an ID token (OpenID Connect Core 1.0, 3.1.3.7 and 12.2).

        Args:
            token: the ID token.
            client: the `client_id` of the page, for which it must be.
            nonce: what the page has sent for this one sign-in; None for a token that a refresh token was taken for.

        Raises:
            TokenError: it is none of the issuer's for this page and this sign-in, or is not valid now.
            IssuerError: the issuer does not tell its keys.
        """
        claims = self._verified(token, (client,), ("exp", "iss", "aud", "iat", "sub"))
        audience, party, sent = claims["aud"], claims.get("azp"), claims.get("nonce")
        if party != client and (party is not None or (isinstance(audience, list) and len(audience) > 1)):
            raise TokenError("the token is not valid: it was made for another client")
        if nonce is not None and not (isinstance(sent, str) and hmac.compare_digest(sent.encode(), nonce.encode())):
            raise TokenError("the token is not valid: it answers another sign-in")
        principals = _principals(claims, self._settings)
        name = _shown_name(claims) or asker_for(principals).name.partition(":")[2]
        return Person(name, principals, _text(claims, "sub") or "", _text(claims, "sid"))

    def logout_of(self, token: str, client: str) -> ProviderLogout:
        """Return which sessions the issuer has ended (OpenID Connect Back-Channel Logout 1.0, 2.6).

        Args:
            token: the logout token.
            client: the `client_id` of the page, for which it must be.

        Raises:
            TokenError: it is none of the issuer's for this page, or is not valid now.
            IssuerError: the issuer does not tell its keys.
        """
        claims = self._verified(token, (client,), ("exp", "iss", "aud", "iat", "jti"), is_logout=True)
        subject, session, number = (_text(claims, name) for name in ("sub", "sid", "jti"))
        events = claims.get("events")
        if not isinstance(events, dict) or not isinstance(events.get(_LOGOUT), dict) or "nonce" in claims:
            raise TokenError("the token is not valid: it is no logout token")
        if number is None or (subject is None and session is None):
            raise TokenError("the token is not valid: it names neither a person nor a session")
        return ProviderLogout(subject, session, number, float(claims["exp"]))

    def _verified(
        self,
        token: str,
        audiences: Sequence[str],
        required: Sequence[str] = ("exp", "iss", "aud"),
        *,
        is_logout: bool = False,
    ) -> Mapping[str, Any]:
        """Return the claims of a token whose signature, times, issuer and audience are right."""
        if len(token) > LONGEST:
            raise TokenError(f"the token is longer than {LONGEST:,} characters: let it name fewer groups")
        try:
            header = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            if algorithm not in self._settings.algorithms:
                raise jwt.InvalidAlgorithmError
            published = self._keys.find(header.get("kid"))
            if published.get("alg", algorithm) != algorithm:
                raise jwt.InvalidAlgorithmError
            claims: Mapping[str, Any] = jwt.decode(
                token,
                jwt.PyJWK(dict(published), algorithm),
                algorithms=[algorithm],
                audience=audiences,
                issuer=self._settings.issuer,
                leeway=self._settings.leeway,
                options={"require": list(required), "enforce_minimum_key_length": True},
            )
        except jwt.PyJWTError as error:
            reason = next((said for kind, said in _REASONS if isinstance(error, kind)), "it cannot be read")
            raise TokenError(f"the token is not valid: {reason}") from None
        except (ValueError, TypeError, OverflowError, RecursionError):  # claims of odd types, nested without end
            raise TokenError("the token is not valid: it cannot be read") from None
        if not is_logout and (str(header.get("typ")).lower() == "logout+jwt" or "events" in claims):
            raise TokenError("the token is not valid: it tells of an event")
        return claims


def _shown_name(claims: Mapping[str, Any]) -> str:
    """Return the name by which a page greets a person; empty where the claims have none."""
    told = (claims.get(name) for name in ("name", "preferred_username", "email"))
    name = next((each for each in told if isinstance(each, str) and each.strip()), "")
    return "".join(each for each in name if each.isprintable()).strip()[:_LONGEST_SHOWN]


def _text(claims: Mapping[str, Any], name: str) -> str | None:
    """Return a claim that is a text; None where the claims have none.

    Raises:
        TokenError: it is another value, empty or too long.
    """
    value = claims.get(name)
    if value is not None and not (isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and "\0" not in value):
        raise TokenError(f"the token is not valid: its claim {name} is no text, or too long")
    return value


def _principals(claims: Mapping[str, Any], settings: TokenSettings) -> frozenset[str]:
    """Return the principals that the claims of a token name.

    Raises:
        TokenError: it names no user, or its groups are not a list of names.
    """
    user, groups = claims.get(settings.user_claim), claims.get(settings.groups_claim, [])
    if not isinstance(user, str):
        raise TokenError(f"the token names no user: its claim {settings.user_claim} is missing, or is no text")
    if settings.user_claim == "email" and claims.get("email_verified", True) not in (True, "true"):
        raise TokenError("the token names no user: its issuer has not verified the address")
    elsewhere = claims.get("_claim_names")
    if (isinstance(elsewhere, dict) and settings.groups_claim in elsewhere) or claims.get("hasgroups") is True:
        raise TokenError(
            "the token does not name the groups of its user, who is in too many (overage): let the issuer name only "
            "those that belong to this application"
        )
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise TokenError(f"the token's claim {settings.groups_claim} is no list of names")
    try:
        return principal_set([f"{USER}:{user}", *(f"{GROUP}:{group}" for group in groups)])
    except ValueError:
        raise TokenError(
            f"the token names a user or a group that is no principal, or more than {MOST:,} groups"
        ) from None
