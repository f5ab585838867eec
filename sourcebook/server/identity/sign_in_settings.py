"""Settings of signing in to the page at an issuer (OpenID Connect): authorization code flow with PKCE."""

import os
from datetime import timedelta
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator
from pydantic_core import PydanticCustomError

from sourcebook.admin.sessions import LONGEST
from sourcebook.config.field_types import Duration, Settings
from sourcebook.server.identity.guarded_urls import Url

SECRET_VARIABLE: Final = "SOURCEBOOK_CLIENT_SECRET"  # noqa: S105 - the name of the variable
"""Variable with the secret that the issuer has given to the page; without it the page is a public client."""
RETURN_PATH: Final = "/sign-in/return"
"""Path of the page to which the issuer sends a browser back."""
LOGOUT_PATH: Final = "/sign-in/back-channel-logout"
"""Path of the page at which the issuer says that it has ended sessions."""
Claim = Annotated[str, Field(min_length=1, max_length=200)]


def _origin(url: str) -> str:
    parts = urlsplit(url)
    if url.rstrip("/") != f"{parts.scheme}://{parts.netloc}":
        raise PydanticCustomError("server_url", "it has a path or a query: the page is at the root of its host")
    return url.rstrip("/")


class SignInSettings(Settings):
    """The page as a client of the issuer (OpenID Connect), where persons sign in."""

    client_id: Claim = Field(description="the name under which the issuer knows the page")
    url: Annotated[Url, AfterValidator(_origin)] = Field(
        description="the https URL of the page as browsers reach it, without a path"
    )
    name: Annotated[str, Field(min_length=1, max_length=80)] | None = Field(
        default=None, description="what the button names, such as the company; the host of the issuer by default"
    )
    scope: tuple[Annotated[str, Field(pattern=r"^[\x21\x23-\x5b\x5d-\x7e]{1,100}$")], ...] = Field(
        default=("openid", "profile", "email"),
        min_length=1,
        description="a list of scopes that the issuer is asked for, openid among them",
    )
    lasts: Annotated[Duration, Field(le=LONGEST)] = Field(
        default=timedelta(hours=8), description="a duration up to 7d, after which a person signs in again"
    )

    refresh: Annotated[Duration, Field(ge=timedelta(seconds=30), le=LONGEST)] | None = Field(
        default=None,
        description="a duration such as 15m, after which the issuer is asked again who a person is, by refresh tokens",
    )

    @field_validator("scope")
    @classmethod
    def _names_openid(cls, scope: tuple[str, ...]) -> tuple[str, ...]:
        if "openid" not in scope:
            raise PydanticCustomError("server_url", "it lacks openid, without which the issuer says nothing of persons")
        return scope

    @property
    def return_url(self) -> str:
        """The URL to which the issuer sends a browser back: it must be known there."""
        return f"{self.url}{RETURN_PATH}"

    @property
    def secret(self) -> str | None:
        """The secret of the page at the issuer, from the environment alone: no settings hold it."""
        return os.environ.get(SECRET_VARIABLE, "").strip() or None
