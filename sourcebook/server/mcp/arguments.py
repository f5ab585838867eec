"""Arguments of the tools; an unknown one is refused by its name."""

from typing import Literal, Self

from pydantic import ConfigDict, Field, StrictBool, StrictInt, model_validator

from sourcebook.config.relation_kinds import RelationKind
from sourcebook.contract.listing import ItemKind, ItemOrder, ItemState
from sourcebook.server.mcp.budget import FEWEST_TOKENS, MOST_TOKENS, USUAL_TOKENS
from sourcebook.server.request_models import Sent
from sourcebook.server.types import ContextQuery, SearchQuery

_LARGEST_ID = (1 << 63) - 1


class _Budgeted(Sent):
    """Arguments of a tool whose answer may be cut."""

    max_tokens: StrictInt = Field(
        default=USUAL_TOKENS, ge=FEWEST_TOKENS, le=MOST_TOKENS, description="Tokens of the answer, at most."
    )


class SearchArguments(_Budgeted, SearchQuery):
    """Arguments of `search_documents`: every option of `KnowledgeBase.search`."""

    model_config = ConfigDict(json_schema_extra={"examples": []})


class ContextArguments(_Budgeted, ContextQuery):
    """Arguments of `get_context`: every option of `KnowledgeBase.context`, but the tokenizer and formats of blocks."""

    model_config = ConfigDict(json_schema_extra={"examples": []})

    format: Literal["markdown", "xml"] = "markdown"
    tokenizer: Literal["bound"] = Field(default="bound", description="An upper bound for every model counts.")


class ListArguments(_Budgeted):
    """Arguments of `list_collections`."""

    offset: StrictInt = Field(default=0, ge=0, description="Entries before the first one.")


class CollectionsArguments(ListArguments):
    """Arguments of `list_sources` and `get_statistics`."""

    collections: list[str] | str | None = Field(
        default=None, description="Names, or one name; every collection by default."
    )

    @property
    def names(self) -> list[str] | None:
        """Names of the collections; None for every one."""
        return [self.collections] if isinstance(self.collections, str) else self.collections


class FetchArguments(_Budgeted):
    """Arguments of `fetch_document`."""

    document: StrictInt | str = Field(description="Its id, its URI, or the end of its path, such as `guides/power.md`.")
    collection: str | None = Field(default=None, description="Its collection, where several have it.")
    start: StrictInt = Field(default=0, ge=0, description="Character of the text to begin with, counted from 0.")
    end: StrictInt | None = Field(default=None, ge=1, description="Character to end before.")
    first_passage: StrictInt | None = Field(
        default=None, ge=0, description="Passage to begin with, counted from 0, in place of `start`."
    )
    last_passage: StrictInt | None = Field(default=None, ge=0, description="Last passage, in place of `end`.")
    unredacted: StrictBool = Field(default=False, description="Needs a key with the scope `unredacted`.")

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        by_passage = self.first_passage is not None or self.last_passage is not None
        if by_passage and (self.start or self.end is not None):
            raise ValueError("give a range of characters or of passages, not both")
        return self


class RelatedArguments(_Budgeted):
    """Arguments of `find_related`."""

    document: StrictInt | str = Field(description="Its id, its URI, or the end of its path, such as `guides/power.md`.")
    collection: str | None = Field(default=None, description="Its collection, where several have it.")
    kinds: list[RelationKind] = Field(default=[], description="Only relations of these kinds; every kind by default.")
    direction: Literal["both", "out", "in"] = Field(
        default="both", description="`out`: what the document says of others; `in`: what others say of it."
    )
    dangling: bool = Field(default=False, description="Relations, too, whose document is not there.")


class DocumentsArguments(CollectionsArguments):
    """Arguments of `list_documents`."""

    states: list[ItemState] = Field(default=[], description="Only items in these states.")
    kinds: list[ItemKind] = Field(default=[], description="Only items of these kinds.")
    tags: list[str] = Field(default=[], max_length=100, description="Only documents with one of these tags.")
    text: str | None = Field(default=None, max_length=1_000, description="Only with this in title or URI.")
    types: list[str] = Field(default=[], max_length=100, description="Only documents of these types, such as adr.")
    sort: ItemOrder = Field(default="uri", description="Order; - for last first.")
    limit: StrictInt = Field(default=50, ge=1, le=500, description="Documents, at most.")


class RemoveDocumentArguments(Sent):
    """Arguments of `remove_document`."""

    document: StrictInt | str = Field(description="Its id, its URI, or the end of its path.")
    collection: str | None = Field(default=None, description="Its collection, where several have it.")


class CancelArguments(Sent):
    """Arguments of `cancel_job`."""

    job: StrictInt = Field(ge=1, le=_LARGEST_ID, description="Id of the job.")


class Waiting(Sent):
    """Arguments of a tool that answers with a job."""

    wait: bool = Field(default=False, description="Answer when it has ended, or after 50 seconds.")


class JobArguments(CancelArguments, Waiting):
    """Arguments of `get_job`."""


class ChatGptSearchArguments(Sent):
    """Arguments of ChatGPT's `search`."""

    query: str = Field(description="Words or a question.")


class ChatGptFetchArguments(Sent):
    """Arguments of ChatGPT's `fetch`."""

    id: str = Field(description="An id from `search`.")
