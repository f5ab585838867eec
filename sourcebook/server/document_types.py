"""The types of requests and answers that change documents."""

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictBool

from sourcebook.admin.curation import GREATEST_BOOST, LEAST_BOOST, LONGEST_REASON
from sourcebook.admin.document_labels import LONGEST_TAG, MOST_TAGS
from sourcebook.admin.titles import LONGEST_TITLE
from sourcebook.contract.documents import RemovedItem
from sourcebook.contract.work import WorkRequest
from sourcebook.errors import FailureClass
from sourcebook.model.page_picture import Box
from sourcebook.server.request_models import Number, Sent, Whole

MOST_RETRIED = 1_000
"""Documents of one request, at most."""
MOST_EXPORTED = 500
"""Documents of one export, at most."""
_EXAMPLE: dict[str, JsonValue] = {"collection": "handbook", "failure": "timeout"}

_PATCH: dict[str, JsonValue] = {"tags": ["policy"], "metadata": {"owner": "Harbour office", "draft": None}}


DocumentNumber = Annotated[int, Path(description="Id of the document.", examples=[1])]
_Tag = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_TAG,
        pattern=r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0][^\x00-\x1f\x7f-\x9f]*$",
    ),
]
"""A tag of one line that is not only spaces."""


class RestoredDocuments(BaseModel):
    """A document that was restored, and the work that makes it searchable again."""

    restored: list[RemovedItem]
    work: list[WorkRequest]


class DocumentPatch(Sent):
    """Tags, metadata and a title that are given to a document by hand."""

    model_config = ConfigDict(json_schema_extra={"examples": [_PATCH]})

    tags: Annotated[list[_Tag], Field(max_length=MOST_TAGS)] | None = Field(
        default=None, description="The tags given by hand, in place of those before."
    )
    metadata: dict[str, JsonValue] | None = Field(
        default=None, description="A merge patch (RFC 7396) of the metadata given by hand: null takes a name back."
    )
    title: str | None = Field(
        default=None, max_length=LONGEST_TITLE, description="In place of its own; an empty one takes it back."
    )


class Curation(Sent):
    """How a document stands in searches, by hand."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"boost": 0, "reason": "withdrawn, see the new leaflet"}]}
    )

    boost: Number = Field(
        ge=0,
        le=GREATEST_BOOST,
        description=f"0 hides it from search; a factor from {LEAST_BOOST:g} to {GREATEST_BOOST:g} takes its passages "
        "to their place divided by it; 1 takes both back.",
    )
    reason: str | None = Field(
        default=None, max_length=LONGEST_REASON, description="Why, on one line; needed unless `boost` is 1."
    )


class RetryRequest(Sent):
    """Failed items to try again: documents by id or URI, or those of a collection."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    documents: list[Whole | Annotated[str, Field(min_length=1, max_length=10_000)]] = Field(
        default=[], max_length=MOST_RETRIED, description="Ids; or URIs, where `collection` is given, too."
    )
    collection: str | None = Field(default=None, description="Its failed items, where no documents are named.")
    failure: FailureClass | None = Field(default=None, description="Only items of the collection that failed so.")


class RetryAnswer(BaseModel):
    """The work that tries items again, a request for each collection."""

    work: list[WorkRequest]


class ExportRequest(Sent):
    """Documents that are exported together."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"documents": [1]}]})

    documents: list[Whole] = Field(min_length=1, max_length=MOST_EXPORTED, description="Ids.")
    unredacted: StrictBool = Field(
        default=False, description="What collections redact as it is stored; needs the scope `unredacted`."
    )


class PagePlaces(BaseModel):
    """A page of a PDF, and the places of a passage on it."""

    page: int = Field(description="Counted from 1.")
    pages: int = Field(description="Pages of the document.")
    width: int = Field(description="Points (1/72 inch).")
    height: int
    boxes: tuple[Box, ...] = Field(
        description="A rectangle a line of the passage: left, top, right and bottom as shares of the page, 0 to 1."
    )
