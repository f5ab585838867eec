"""Request for documents that are similar to one."""

from dataclasses import dataclass
from typing import Annotated

from sourcebook.contract.fields import DocumentName, Name, Request, Whole
from sourcebook.contract.search import MOST_RESULTS, ChosenCollections, ChosenDocuments, Unredacted


@dataclass(frozen=True, slots=True)
class SimilarRequest(Request):
    """A search for documents similar to one, whose options are checked."""

    document: Annotated[str | int, DocumentName("Its id, its URI or the end of its path.")]
    collection: Annotated[str | None, Name("Its collection, where several have it.")] = None
    collections: ChosenCollections = None
    limit: Annotated[
        int, Whole("Maximum number of documents.", option="-n/--limit", metavar="NUMBER", least=1, most=MOST_RESULTS)
    ] = 5
    filters: ChosenDocuments = None
    unredacted: Unredacted = False
    passage: Annotated[
        int | None, Whole("Like this passage of it, counted from 0; `show` lists them.", metavar="NUMBER")
    ] = None
