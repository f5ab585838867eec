"""The settings of a login to a web site: `login:` of a site."""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import FilePath, Settings, Text
from sourcebook.config.site_types import REFERENCE, HeaderValue, SiteUrl

_SECRET_FIELD = re.compile(r"pass|pwd|pin$|secret|token|otp|code|credential|(^|[-_a-z])key$", re.IGNORECASE)
"""Names of form fields whose values are secrets."""


def _basic(value: str) -> str:
    user, colon, password = value.partition(":")
    if not (user and colon and password):
        raise PydanticCustomError("basic", "it names a user and a password with a colon between them")
    return value


class LoginSettings(Settings):
    """How a crawl logs in: with a form, with a stored state of a browser, or with HTTP basic authentication."""

    form: SiteUrl | None = Field(default=None, description="the URL of the page with the login form")
    fields: dict[Text, HeaderValue] = Field(
        default_factory=dict,
        description='a mapping of the form\'s field names to values such as {user: "${DOCS_USER}"}; '
        "${NAME} is read from the environment",
    )
    state: FilePath = Field(
        default=None, description="the path of a storage state that Playwright has saved, relative to this file"
    )
    basic: Annotated[HeaderValue, AfterValidator(_basic)] | None = Field(
        default=None, description='user and password such as "${DOCS_USER}:${DOCS_PASSWORD}"'
    )

    @field_validator("fields")
    @classmethod
    def _no_password_in_clear(cls, fields: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        for name, value in fields.items() if info.context else ():
            if _SECRET_FIELD.search(name) and not REFERENCE.search(value):
                raise PydanticCustomError("secret", "a secret is kept in the environment", {"inside": (name,)})
        return fields

    @field_validator("basic")
    @classmethod
    def _no_basic_in_clear(cls, basic: str | None, info: ValidationInfo) -> str | None:
        if basic is not None and info.context and not REFERENCE.search(basic.partition(":")[2]):
            raise PydanticCustomError("secret", "a secret is kept in the environment")
        return basic

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if sum(way is not None for way in (self.form, self.state, self.basic)) != 1:
            raise PydanticCustomError("login", "a login has one of form, state and basic")
        if (self.form is None) == bool(self.fields):
            raise PydanticCustomError("login", "form and fields belong together")
        return self
