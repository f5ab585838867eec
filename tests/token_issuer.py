"""An issuer of signed tokens on loopback: real keys, a discovery document, a key set, and faults of such servers."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from sourcebook.server.identity.token_settings import TokenSettings

AUDIENCE: Final = "sourcebook"
Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@dataclass(frozen=True)
class Asked:
    """A request."""

    fields: dict[str, str]
    """Fields of the query, and of a form."""
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Told:
    """An answer."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


@dataclass
class Issuer:
    """Its keys, and what it answers with."""

    url: str = ""
    keys: dict[str, Private] = field(default_factory=dict)
    """Published keys by their `kid`."""
    asked: list[str] = field(default_factory=list)
    """Paths that were asked for."""
    status: int = 200
    body: bytes | None = None
    """Answer in place of the key set."""
    location: str | None = None
    seconds_a_byte: float = 0.0
    discovery: dict[str, Any] = field(default_factory=dict)
    """Fields of the discovery document that differ."""
    pages: dict[tuple[str, str], Callable[[Asked], Told]] = field(default_factory=dict)
    """Further answers, by method and path."""

    def settings(self, **changed: Any) -> TokenSettings:
        return TokenSettings.model_validate({"issuer": self.url, "audience": [AUDIENCE], **changed})

    def claims(self, **changed: Any) -> dict[str, Any]:
        now = int(time.time())
        told = {"iss": self.url, "aud": AUDIENCE, "sub": "anna@example.org", "iat": now, "exp": now + 300}
        return {name: value for name, value in (told | changed).items() if value is not None}

    def token(
        self, key: str = "rsa", algorithm: str = "RS256", headers: Mapping[str, Any] = {}, /, **claims: Any
    ) -> str:
        return jwt.encode(self.claims(**claims), self.keys[key], algorithm, {"kid": key, **headers})

    def published(self) -> bytes:
        return json.dumps({"keys": [public_jwk(key, name) for name, key in self.keys.items()]}).encode()


def public_jwk(key: Private, name: str) -> dict[str, Any]:
    public = key.public_key()
    if isinstance(public, rsa.RSAPublicKey):
        shown = RSAAlgorithm.to_jwk(public, as_dict=True)
    elif isinstance(public, ec.EllipticCurvePublicKey):
        shown = ECAlgorithm.to_jwk(public, as_dict=True)
    else:
        shown = OKPAlgorithm.to_jwk(public, as_dict=True)
    return {key: value for key, value in shown.items() if key != "key_ops"} | {"kid": name, "use": "sig"}


def unsigned(header: Mapping[str, Any], claims: Mapping[str, Any], signature: bytes = b"") -> str:
    """Return a token by hand: whatever a library refuses to write."""
    parts = (json.dumps(header).encode(), json.dumps(claims).encode(), signature)
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


@contextmanager
def issuing(**keys: Private) -> Iterator[Issuer]:
    """Let an issuer answer on a free port of the loopback address."""
    issuer = Issuer(keys=dict(keys))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            issuer.asked.append(self.path)
            path, _, query = self.path.partition("?")
            page = issuer.pages.get((self.command, path))
            if page is not None:
                self._answer_with(page, query)
            elif self.path == "/.well-known/openid-configuration":
                told = {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/keys", **issuer.discovery}
                self._answer(200, json.dumps(told).encode())
            else:
                self._answer(issuer.status, issuer.published() if issuer.body is None else issuer.body)

        def _answer_with(self, page: Callable[[Asked], Told], query: str) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            is_form = self.headers.get("Content-Type", "").startswith("application/x-www-form-urlencoded")
            sent = parse_qsl(query) + (parse_qsl(body.decode()) if is_form else [])
            told = page(Asked(dict(sent), body, dict(self.headers.items())))
            self.send_response(told.status)
            for name, value in {"Content-Length": str(len(told.body)), **told.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(told.body)

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if issuer.location is not None:
                self.send_header("Location", issuer.location)
            self.end_headers()
            try:
                for place in range(0, len(body), 1 if issuer.seconds_a_byte else len(body) or 1):
                    time.sleep(issuer.seconds_a_byte)  # as slow as the test says
                    self.wfile.write(body[place : place + 1] if issuer.seconds_a_byte else body)
            except OSError:
                pass  # the caller has given up

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    issuer.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
