"""The types of requests that make and change collections."""

from typing import Any, Final, Literal

from pydantic import ConfigDict, Field, JsonValue

from sourcebook.config.field_types import NAME_RULE
from sourcebook.server.request_models import Sent

_NEW: Final[dict[str, JsonValue]] = {
    "name": "website",
    "settings": {"sites": [{"url": "https://docs.example.com/", "max_pages": 200}]},
}
_SOURCE: Final[dict[str, JsonValue]] = {"kind": "site", "source": {"url": "https://blog.example.com/"}}


class NewCollection(Sent):
    """A collection to make."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [_NEW]})

    name: str = Field(min_length=1, max_length=63, description=f"Its name: {NAME_RULE}.")
    settings: dict[str, Any] = Field(
        default_factory=dict,
        description="Settings as in `sourcebook.yaml`, less what would reach into the server; none for uploads alone.",
    )


class NewSource(Sent):
    """A source to add to a collection."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [_SOURCE]})

    kind: Literal["files", "site", "repository", "collection"]
    source: dict[str, Any] = Field(
        description="Its settings, as an entry of `files`, `sites`, `repositories` or `from` in `sourcebook.yaml`."
    )
