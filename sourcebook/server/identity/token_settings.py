"""Settings of signed tokens: whose are taken, and what they say of a caller."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from sourcebook.config.explain import explain
from sourcebook.config.field_types import CollectionName, Settings
from sourcebook.config.yaml_file import read_configuration_text, refuse
from sourcebook.errors import ConfigurationError
from sourcebook.server.identity.guarded_urls import Url
from sourcebook.server.identity.sign_in_settings import Claim, SignInSettings

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures by a private key alone: a secret that both sides have would let this server sign."""
_EXAMPLE: Final = "issuer: https://login.example.org/realms/staff\naudience: sourcebook\n"


class TokenSettings(Settings):
    """Signed tokens (JWT) of one issuer, and what they open."""

    issuer: Url = Field(description="the `iss` of the tokens, letter by letter, an https URL")
    audience: tuple[Claim, ...] = Field(
        min_length=1, description="the `aud` that tokens for this server have, or a list of them"
    )
    sign_in: SignInSettings | None = Field(
        default=None, description="a mapping with client_id and url, with which persons sign in to the page"
    )
    jwks_url: Url | None = Field(
        default=None, description="an https URL with the public keys; by default the issuer's discovery names it"
    )
    resource: Url | None = Field(
        default=None, description="the https URL of /mcp as agents reach it; it is an audience, too"
    )
    user_claim: Claim = Field(default="sub", description="the claim with the name of the user, such as email")
    groups_claim: Claim = Field(default="groups", description="the claim with a list of names of groups")
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
