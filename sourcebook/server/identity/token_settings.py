"""Settings of signed tokens: whose are taken, and what they say of a caller."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from sourcebook.config.explain import explain
from sourcebook.config.field_types import CollectionName, Settings
from sourcebook.config.yaml_file import read_configuration_text, refuse
from sourcebook.errors import ConfigurationError

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures by a private key alone: a secret that both sides have would let this server sign."""
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_EXAMPLE: Final = "issuer: https://login.example.org/realms/staff\naudience: sourcebook\n"


def _guarded_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
        if is_safe and parts.hostname and parts.port != 0 and parts.username is None and not parts.fragment:
            return url
    except ValueError:
        pass
    raise PydanticCustomError("server_url", "it is no https URL; http is for this machine's own address alone")


Url = Annotated[str, AfterValidator(_guarded_url)]
_Claim = Annotated[str, Field(min_length=1, max_length=200)]


class TokenSettings(Settings):
    """Signed tokens (JWT) of one issuer, and what they open."""

    issuer: Url = Field(description="the `iss` of the tokens, letter by letter, an https URL")
    audience: tuple[_Claim, ...] = Field(
        min_length=1, description="the `aud` that tokens for this server have, or a list of them"
    )
    jwks_url: Url | None = Field(
        default=None, description="an https URL with the public keys; by default the issuer's discovery names it"
    )
    resource: Url | None = Field(
        default=None, description="the https URL of /mcp as agents reach it; it is an audience, too"
    )
    user_claim: _Claim = Field(default="sub", description="the claim with the name of the user, such as email")
    groups_claim: _Claim = Field(default="groups", description="the claim with a list of names of groups")
    algorithms: tuple[Algorithm, ...] = Field(
        default=("RS256", "PS256", "ES256", "ES384", "EdDSA"),
        min_length=1,
        description="a list of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA",
    )
    leeway: Annotated[int, Field(strict=True, ge=0, le=300)] = Field(
        default=60, description="seconds, 0 to 300, by which clocks may differ"
    )
    collections: tuple[CollectionName, ...] | None = Field(
        default=None, min_length=1, description="the only collections that tokens open; all by default"
    )
    scopes: tuple[Literal["read", "unredacted"], ...] = Field(
        default=("read",), min_length=1, description="a list of read, unredacted"
    )

    @property
    def audiences(self) -> tuple[str, ...]:
        """Every `aud` that is taken."""
        return self.audience if self.resource is None else (*self.audience, self.resource)

    @property
    def discovery_url(self) -> str:
        """The URL of the issuer's discovery document (OpenID Connect Discovery 1.0, 4)."""
        return f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"


def load_token_settings(path: Path) -> TokenSettings:
    """Read the file of the settings.

    Raises:
        ConfigurationError: with file, line, column and key, the value found there and the values allowed.
    """
    if not path.exists():
        raise ConfigurationError(f"There is no file {path}; write one, for example:\n\n{_EXAMPLE}")
    text = read_configuration_text(path)
    if not isinstance(text.content, dict):
        refuse(path, text.position(()), f"the file holds no mapping; it should look like this:\n\n{_EXAMPLE}")
    if isinstance(audience := text.content.get("audience"), str):  # one is written as a text
        text = replace(text, content={**text.content, "audience": [audience]})
    try:
        return TokenSettings.model_validate(text.content)
    except ValidationError as error:
        raise ConfigurationError(explain(error, text, TokenSettings)) from None


def is_guarded_url(url: object) -> bool:
    """Return whether a URL may be asked for keys: over TLS, or on this machine."""
    try:
        return isinstance(url, str) and bool(_guarded_url(url))
    except PydanticCustomError:
        return False
