"""The settings of records that dlt reads: a source of dlt in a module, or a REST API in dlt's own words."""

import re
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Duration, Settings, Text
from sourcebook.config.record_code import CodeSettings, without_secrets

_CODE: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class ApiSettings(Settings):
    """How the resources of a source of dlt become records."""

    resource: Text | None = Field(
        default=None,
        description="the resource whose items are the records; unset: the only one that is none of children",
    )
    """Resource of the API whose items are the records."""
    children: dict[Text, Text] = Field(
        default={},
        description="a mapping from other resources to their field with the key of the record, such as "
        "{comments: _issues_id}: their items become a list in the record's field of that name",
    )
    """Other resources whose items become lists in their record."""
    relist: Duration = Field(
        default=timedelta(days=1),
        description="a duration such as 12h or 7d, after which everything is listed again where dlt reads only changes",
    )
    """Interval after which everything is listed again where only changes are read."""


class DltSettings(ApiSettings, CodeSettings):
    """A function of a module that returns a source or a resource of dlt."""

    use: Annotated[Text, Field(pattern=f"^(?:{_CODE.pattern})$")] = Field(
        description="module:function of a source or resource of dlt, such as my_crm:contacts"
    )
    """Source of dlt that reads an [API](record-programs.md#apis); `dlt: module:function` is short for it."""


class RestSettings(ApiSettings):
    """A REST API in the words of dlt's source `rest_api`: client, resources and their defaults are handed to it."""

    client: dict[str, Any] = Field(
        description="a mapping such as {base_url: https://api.example.com/, auth: {type: bearer, token: ${TOKEN}}, "
        "paginator: header_link}"
    )
    """REST API [in the words of dlt](record-programs.md#apis): `base_url`, `auth`, `paginator`, `headers`."""
    resources: list[Any] = Field(
        min_length=1, description="a list of resources, each a name or a mapping such as {name: issues, endpoint: {…}}"
    )
    """Resources of the API."""
    resource_defaults: dict[str, Any] | None = Field(
        default=None, description="a mapping such as {endpoint: {params: {per_page: 100}}}"
    )
    """Settings that all resources have."""

    @field_validator("client")
    @classmethod
    def _is_a_client(cls, client: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """Refuse a client whose pages dlt would guess: a wrong guess reads the first page as if it were all."""
        if not isinstance(client.get("base_url"), str) or "paginator" not in client:
            raise PydanticCustomError(
                "rest_client", "a client has a base_url and a paginator; single_page where an answer is complete"
            )
        return without_secrets(client, info)  # type: ignore[no-any-return]

    @field_validator("resources", "resource_defaults")
    @classmethod
    def _no_secret_in_clear(cls, written: Any, info: ValidationInfo) -> Any:
        return without_secrets(written, info)

    @property
    def use(self) -> str:
        """The address of the API, for messages."""
        return str(self.client["base_url"])
