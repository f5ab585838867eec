"""The settings of records that dlt reads: a source of dlt in a module, or a REST API in dlt's own words."""

import os
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Duration, Settings, Text
from sourcebook.config.site_types import REFERENCE

_CODE: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_SECRET: Final = re.compile(r"(?i)(token|secret|password|api_?key|authorization|cookie|private_key)$")


class ApiSettings(Settings):
    """How the resources of a source of dlt become records."""

    resource: Text | None = Field(
        default=None, description="the resource whose items are the records; unset: the only one, or the first"
    )
    children: dict[Text, Text] = Field(
        default={},
        description="a mapping from other resources to their field with the key of the record, such as "
        "{comments: _issues_id}: their items become a list in the record's field of that name",
    )
    relist: Duration = Field(
        default=timedelta(days=1),
        description="a duration such as 12h or 7d, after which everything is listed again where dlt reads only changes",
    )


class DltSettings(ApiSettings):
    """A function of a module that returns a source or a resource of dlt."""

    use: Annotated[Text, Field(pattern=f"^(?:{_CODE.pattern})$")] = Field(
        description="module:function of a source or resource of dlt, such as my_crm:contacts"
    )
    arguments: dict[str, Any] = Field(
        default={}, description="a mapping from arguments of the function to values; secrets as ${NAME}"
    )
    folder: Text | None = Field(default=None, description="the folder of the module; unset: that of this file")

    @field_validator("arguments")
    @classmethod
    def _no_secret_in_clear(cls, arguments: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        return _without_secrets(arguments, info)  # type: ignore[no-any-return]

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, written: Any, info: ValidationInfo) -> Any:
        """Read `dlt: module:function`, and find modules beside the configuration file."""
        written = {"use": written} if isinstance(written, str) else written
        if not info.context or not isinstance(written, dict):
            return written
        return {**written, "folder": os.path.realpath(info.context["folder"] / str(written.get("folder") or "."))}


class RestSettings(ApiSettings):
    """A REST API in the words of dlt's source `rest_api`: client, resources and their defaults are handed to it."""

    client: dict[str, Any] = Field(
        description="a mapping such as {base_url: https://api.example.com/, auth: {type: bearer, token: ${TOKEN}}, "
        "paginator: header_link}"
    )
    resources: list[Any] = Field(
        min_length=1, description="a list of resources, each a name or a mapping such as {name: issues, endpoint: {…}}"
    )
    resource_defaults: dict[str, Any] | None = Field(
        default=None, description="a mapping such as {endpoint: {params: {per_page: 100}}}"
    )

    @field_validator("client")
    @classmethod
    def _is_a_client(cls, client: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """Refuse a client whose pages dlt would guess: a wrong guess reads the first page as if it were all."""
        if not isinstance(client.get("base_url"), str) or "paginator" not in client:
            raise PydanticCustomError(
                "rest_client", "a client has a base_url and a paginator; single_page where an answer is complete"
            )
        return _without_secrets(client, info)  # type: ignore[no-any-return]

    @field_validator("resources", "resource_defaults")
    @classmethod
    def _no_secret_in_clear(cls, written: Any, info: ValidationInfo) -> Any:
        return _without_secrets(written, info)

    @property
    def use(self) -> str:
        """The address of the API, for messages."""
        return str(self.client["base_url"])


def _without_secrets(written: Any, info: ValidationInfo) -> Any:
    """Refuse a literal secret, which the database would contain in clear."""
    if info.context and (inside := next(_literal_secrets(written), None)):
        raise PydanticCustomError("secret", "a secret is kept in the environment", {"inside": inside})
    return written


def _literal_secrets(written: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield where a mapping has a value of a secret's name that no variable holds."""
    if isinstance(written, Mapping):
        for name, value in written.items():
            if isinstance(value, str) and _SECRET.search(str(name)) and not REFERENCE.search(value):
                yield (*at, str(name))
            yield from _literal_secrets(value, (*at, str(name)))
    elif isinstance(written, list):
        for number, value in enumerate(written):
            yield from _literal_secrets(value, (*at, number))
