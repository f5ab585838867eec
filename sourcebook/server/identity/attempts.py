"""One sign-in of a browser at the issuer: what the page has sent for it, kept in a cookie until the browser is back."""

import base64
import hashlib
import hmac
import secrets
from binascii import Error as Base64Error
from dataclasses import dataclass
from typing import Final

_LONGEST_TARGET: Final = 1_500
"""Characters of an address that a cookie has room for."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Values by chance, of which each serves this sign-in alone."""

    state: str
    """Comes back with the browser: a return that another browser began is refused."""
    nonce: str
    """Comes back in the ID token: one of another sign-in is refused."""
    verifier: str
    """Proves to the issuer who began (PKCE, RFC 7636): a code that was taken on its way opens nothing."""
    target: str
    """Address of the page that was asked for."""

    @classmethod
    def begin(cls, target: str) -> "Attempt":
        """Return a new one, which leads to a page of this server."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(state, nonce, verifier, target if len(target) <= _LONGEST_TARGET else "/")

    @classmethod
    def of_cookie(cls, value: str) -> "Attempt | None":
        """Return the sign-in that a cookie holds; None where it holds none."""
        parts = value.split(".")
        if len(parts) != 4 or not all(parts):
            return None
        try:
            return cls(parts[0], parts[1], parts[2], base64.urlsafe_b64decode(parts[3]).decode())
        except (Base64Error, ValueError):
            return None

    @property
    def cookie(self) -> str:
        """The value of the cookie."""
        target = base64.urlsafe_b64encode(self.target.encode()).decode()
        return ".".join((self.state, self.nonce, self.verifier, target))

    @property
    def challenge(self) -> str:
        """The SHA-256 of the verifier, as PKCE has it (S256)."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()

    def is_answered_by(self, state: str) -> bool:
        """Return whether a browser that comes back with a state began this sign-in."""
        return hmac.compare_digest(self.state.encode(), state.encode())
