"""A provider of sign-ins on loopback: OpenID Connect and OAuth 2.1 with PKCE, registration and resource indicators.

It keeps to the specifications that it names and forgives nothing; a test says where it is to behave badly.
"""

import base64
import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote_plus, urlencode

from tests.token_issuer import Asked, Issuer, Private, Told, issuing

CLIENT: Final = "sourcebook-page"
_FORM: Final = (
    "<!doctype html><title>Staff login</title><form method=post action=/login><input type=hidden name=asked value='{}'>"
    "<label>Name <input name=user></label><button>Log in</button></form>"
)


@dataclass
class LoginProvider:
    """Who is signed in there, its clients, and its faults."""

    issuer: Issuer
    claims: dict[str, Any] = field(default_factory=dict)
    """Claims of ID tokens that differ."""
    secret: str | None = None
    """Secret of the page, which it must show then."""
    clients: dict[str, list[str]] = field(default_factory=dict)
    """Redirect URIs of each client."""
    id_token: str | None = None
    """ID token in place of its own."""
    refusal: str | None = None
    """Error with which it sends a browser back."""
    token_status: int = 200
    token_body: bytes | None = None
    """Status and body of the answer to a code, where they differ."""
    ignores_resource: bool = False
    """Whether access tokens are for another resource than the one that was named."""
    asks_for_name: bool = False
    """Whether a person types a name into its page; else it knows who that is."""
    key: tuple[str, str] = ("rsa", "RS256")
    """Name of the key that signs, and the algorithm."""
    offers_refresh: bool = False
    """Whether it gives refresh tokens, of which each is taken once."""
    refresh_answer: dict[str, Any] | None = None
    """Answer to a refresh token in place of its own."""
    over: set[str] = field(default_factory=set)
    """Its own sessions (`sid`) that have ended: their refresh tokens are refused."""
    redeemed: list[dict[str, str]] = field(default_factory=list)
    """Forms with which codes and refresh tokens were redeemed."""
    ended: list[dict[str, str]] = field(default_factory=list)
    """Parameters of sign-outs."""
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)
    _refresh_tokens: dict[str, dict[str, str]] = field(default_factory=dict)
    _taken: dict[str, str] = field(default_factory=dict)
    """Refresh tokens that were taken, with the `sid` of which all end where one comes again (RFC 9700, 4.14)."""

    def prepare(self) -> None:
        """Answer at every endpoint, and say so in the metadata."""
        url = self.issuer.url
        self.issuer.discovery |= {
            "authorization_endpoint": f"{url}/authorize",
            "token_endpoint": f"{url}/token",
            "end_session_endpoint": f"{url}/logout",
            "registration_endpoint": f"{url}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
        }
        metadata = {"issuer": url, "jwks_uri": f"{url}/keys", **self.issuer.discovery}
        self.issuer.pages |= {
            ("GET", "/authorize"): self._authorize,
            ("POST", "/login"): self._log_in,
            ("POST", "/token"): self._token,
            ("POST", "/register"): self._register,
            ("GET", "/logout"): self._log_out,
            ("GET", "/.well-known/oauth-authorization-server"): lambda _: Told(json.dumps(metadata).encode()),
        }

    def _authorize(self, asked: Asked) -> Told:
        told = asked.fields
        if told.get("redirect_uri") not in self.clients.get(told.get("client_id", ""), []):
            return Told(b"unknown client or redirect_uri", 400)
        if told.get("response_type") != "code" or told.get("code_challenge_method") != "S256":
            return Told(b"code and S256 alone", 400)
        if self.refusal is not None:
            return _sent_back(told, error=self.refusal)
        if self.asks_for_name:
            return Told(_FORM.format(json.dumps(told)).encode(), headers={"Content-Type": "text/html"})
        return self._with_code(told)

    def _log_in(self, asked: Asked) -> Told:
        self.claims["sub"] = asked.fields["user"]
        return self._with_code(json.loads(asked.fields["asked"]))

    def _with_code(self, told: dict[str, str]) -> Told:
        code = secrets.token_urlsafe(16)
        self._codes[code] = told
        return _sent_back(told, code=code, iss=self.issuer.url)

    def _token(self, asked: Asked) -> Told:
        self.redeemed.append(asked.fields)
        if self.token_status != 200 or self.token_body is not None:
            return Told(self.token_body or b"{}", self.token_status)
        is_refresh = asked.fields.get("grant_type") == "refresh_token"
        begun = self._refreshed(asked) if is_refresh else self._codes.pop(asked.fields.get("code", ""), None)
        if begun is None or not (is_refresh or self._is_meant(asked, begun)):  # a code is taken once
            return Told(b'{"error": "invalid_grant"}', 400)
        if asked.fields["client_id"] == CLIENT and self.secret is not None and not self._shows_secret(asked):
            return Told(b'{"error": "invalid_client"}', 401)
        begun.setdefault("sid", str(self.claims.get("sid")))
        nonce = None if is_refresh else begun.get("nonce")
        claims = {"aud": begun["client_id"], "nonce": nonce, **self.claims}
        resource = "elsewhere" if self.ignores_resource else asked.fields.get("resource", "nothing")
        access = self.issuer.token(*self.key, **{**self.claims, "aud": resource})
        answer = {"access_token": access, "token_type": "Bearer", "expires_in": 300}
        if "openid" in begun.get("scope", ""):
            own = self.issuer.token(*self.key, **claims)
            answer["id_token"] = own if self.id_token is None else self.id_token
        if self.offers_refresh and begun["client_id"] == CLIENT:
            token = secrets.token_urlsafe(16)
            answer["refresh_token"], self._refresh_tokens[token] = token, begun
        is_own = self.refresh_answer is None or not is_refresh
        return Told(json.dumps(answer if is_own else self.refresh_answer).encode())

    def _refreshed(self, asked: Asked) -> dict[str, str] | None:
        token = asked.fields.get("refresh_token", "")
        if token in self._taken:
            self.over.add(self._taken[token])
        begun = self._refresh_tokens.pop(token, None)
        if begun is None or begun["sid"] in self.over or begun["client_id"] != asked.fields.get("client_id"):
            return None
        self._taken[token] = begun["sid"]
        return begun

    def logout_token(self, headers: Mapping[str, Any] = {"typ": "logout+jwt"}, /, **changed: Any) -> str:
        """Return a logout token of OpenID Connect Back-Channel Logout 1.0."""
        events: dict[str, Any] = {"http://schemas.openid.net/event/backchannel-logout": {}}
        told = {"aud": CLIENT, "jti": secrets.token_urlsafe(8), "events": events, **changed}
        return self.issuer.token(*self.key, headers, **told)

    def _is_meant(self, asked: Asked, begun: dict[str, str]) -> bool:
        challenge = hashlib.sha256(asked.fields.get("code_verifier", "").encode()).digest()
        return (
            asked.fields.get("grant_type") == "authorization_code"
            and base64.urlsafe_b64encode(challenge).rstrip(b"=").decode() == begun["code_challenge"]
            and all(asked.fields.get(name) == begun.get(name) for name in ("client_id", "redirect_uri"))
            and asked.fields.get("resource") == begun.get("resource")
        )

    def _shows_secret(self, asked: Asked) -> bool:
        if self.issuer.discovery["token_endpoint_auth_methods_supported"] == ["client_secret_post"]:
            return asked.fields.get("client_secret") == self.secret
        sent = asked.headers.get("Authorization", "").removeprefix("Basic ")
        return unquote_plus(base64.b64decode(sent).decode().partition(":")[2]) == self.secret

    def _register(self, asked: Asked) -> Told:
        wanted = json.loads(asked.body)
        name = f"agent-{len(self.clients)}"
        self.clients[name] = wanted["redirect_uris"]
        shown = {**wanted, "client_id": name, "token_endpoint_auth_method": "none"}
        return Told(json.dumps(shown).encode(), 201)

    def _log_out(self, asked: Asked) -> Told:
        self.ended.append(asked.fields)
        return Told(status=302, headers={"Location": asked.fields["post_logout_redirect_uri"]})


def _sent_back(told: dict[str, str], **given: str) -> Told:
    query = urlencode({**given, **({"state": told["state"]} if "state" in told else {})})
    return Told(status=302, headers={"Location": f"{told['redirect_uri']}?{query}"})


@contextmanager
def providing(**keys: Private) -> Iterator[LoginProvider]:
    """Let a provider answer on a free port of the loopback address."""
    with issuing(**keys) as issuer:
        provider = LoginProvider(issuer)
        provider.prepare()
        yield provider
