"""Types of problem details (RFC 9457) that programs tell apart: the server sends them, the client reads them."""

from enum import StrEnum


class ProblemType(StrEnum):
    """The `type` of a problem; `about:blank` where its status says everything."""

    PLAIN = "about:blank"
    UNKNOWN_DOCUMENT = "urn:sourcebook:problem:unknown-document"
    UNKNOWN_COLLECTION = "urn:sourcebook:problem:unknown-collection"
    AMBIGUOUS_DOCUMENT = "urn:sourcebook:problem:ambiguous-document"
    DATABASE_UNAVAILABLE = "urn:sourcebook:problem:database-unavailable"
    DATABASE_BUSY = "urn:sourcebook:problem:database-busy"
    MODEL = "urn:sourcebook:problem:model"
