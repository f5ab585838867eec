"""The types of requests and answers about work; the request for work itself is the library's."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StrictBool

from sourcebook.config.document_types import TypeName
from sourcebook.contract.work import WorkRequest

_EXAMPLE: Final[dict[str, JsonValue]] = {"kinds": ["site"]}
_MOST: Final = 1_000
"""Documents and sources of one request, at most."""


def _storable(text: str) -> str:
    text.encode()  # a lone surrogate cannot be, and raises a ValueError
    return text


Name = Annotated[str, Field(min_length=1, max_length=8_000, pattern=r"^[^\x00]*$"), AfterValidator(_storable)]


class SyncQuery(BaseModel):
    """The part of a collection to bring up to date; the whole of it by default."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [_EXAMPLE]})

    documents: list[Name] = Field(default=[], max_length=_MOST, description="URIs; every document where empty.")
    sources: list[Name] = Field(
        default=[], max_length=_MOST, description="Locations of sources; every source where empty."
    )
    kinds: list[Literal["files", "site", "uploads"]] = Field(
        default=[], max_length=3, description="Kinds of sources; every kind where empty."
    )
    types: list[TypeName] = Field(
        default=[], max_length=50, description="Types of documents: those that are there now, beside `documents`."
    )
    only_failed: StrictBool = Field(
        default=False, description="Only failed items, without waiting for their retry time."
    )
    force: StrictBool = Field(default=False, description="Process the items even where nothing changed.")


class WorkPage(BaseModel):
    """A page of work requests, the newest first."""

    requests: list[WorkRequest]
    next_cursor: str | None = Field(description="The `cursor` of the next page; null on the last one.")
