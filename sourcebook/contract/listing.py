"""Request for a list of documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from sourcebook.contract.fields import Choice, Choices, Phrase, Request, Switch, Texts, Whole
from sourcebook.contract.search import ChosenCollections
from sourcebook.errors import FailureClass

ItemState = Literal["ready", "processing", "pending", "failed", "skipped", "removed"]
ItemKind = Literal["file", "page", "recording", "source"]
ItemOrder = Literal[
    "uri",
    "title",
    "-title",
    "created",
    "-created",
    "updated",
    "-updated",
    "indexed",
    "-indexed",
    "size",
    "-size",
]


@dataclass(frozen=True, slots=True)
class DocumentsRequest(Request):
    """A list of documents, and of files and pages that are no documents, whose options are checked."""

    collections: ChosenCollections = None
    states: Annotated[tuple[ItemState, ...], Choices("Only items in this state.", option="--state", bare=True)] = ()
    kinds: Annotated[tuple[ItemKind, ...], Choices("Only items of this kind.", option="--kind", bare=True)] = ()
    types: Annotated[
        tuple[str, ...], Texts("Only documents of this type, such as adr.", option="--type", metavar="TYPE", bare=True)
    ] = ()
    tags: Annotated[
        tuple[str, ...],
        Texts("Only documents with one of these tags.", option="--tag", metavar="WORD", bare=True),
    ] = ()
    text: Annotated[str | None, Phrase("Only items with this in their title or URI.", metavar="TEXT", most=1_000)] = (
        None
    )
    failed: Annotated[bool, Switch("Only failed and skipped items, with the reason.")] = False
    removed: Annotated[bool, Switch("Removed documents as well.")] = False
    curated: Annotated[bool, Switch("Only documents that were hidden from search or boosted by hand.")] = False
    failure: Annotated[FailureClass | None, Choice("Only items that failed in this way.")] = None
    processing: Annotated[bool, Switch("Only items that a process works on now, with the process.")] = False
    limit: Annotated[
        int | None, Whole("Only the first items; all by default.", option="-n/--limit", metavar="NUMBER", least=1)
    ] = None
    offset: Annotated[int, Whole("Number of items before the first one shown.", metavar="NUMBER")] = 0
    sort: Annotated[ItemOrder, Choice("Order of the items; - for the last or latest first.", bare=True)] = "uri"


class DocumentsOptions(TypedDict, total=False):
    """Conditions of a list of documents, as keyword arguments."""

    states: Sequence[str]
    kinds: Sequence[str]
    types: Sequence[str]
    tags: Sequence[str]
    text: str | None
    failed: bool
    removed: bool
    curated: bool
    failure: str | None
    processing: bool
