"""The errors a user meets: each says what happened to which item, and what to do about it."""

from enum import StrEnum
from typing import ClassVar, Final, Self


class SourcebookError(Exception):
    """Sourcebook could not do what was asked."""


class ConfigurationError(SourcebookError):
    """The configuration file is missing, malformed, or asks for something impossible."""


class GoneCollectionError(ConfigurationError):
    """A collection has not been applied, or was removed, also while somebody looked at it."""


class ConflictError(SourcebookError):
    """A change contradicts what is there, such as a collection of the same name; the message says what to do."""


class TooMuchWorkError(ConflictError):
    """So many requests for work of one key wait that it may make no more."""


class ChangedSettingsError(ConflictError):
    """The settings of a collection are others than the caller has read."""


class DatabaseError(SourcebookError):
    """The database cannot be used: it is out of reach, too old, full, or lacks pgvector.

    Args:
        detail: the event.
        remedy: advice to a person, in the imperative.
    """

    is_temporary: ClassVar[bool] = False
    """Whether a retry can succeed although nobody has changed anything."""

    def __init__(self, detail: str, *, remedy: str = "") -> None:
        super().__init__(f"{detail}; {remedy}" if remedy else detail)
        self.detail = detail
        self.remedy = remedy


class DatabaseUnavailableError(DatabaseError):
    """The database cannot be reached now, or the connection to it was lost; a retry can succeed."""

    is_temporary = True


class DatabaseConnectionLostError(DatabaseUnavailableError):
    """The connection to the database was lost during a statement."""


class ReplicaError(DatabaseUnavailableError):
    """The replica of SOURCEBOOK_SEARCH_URL is none, or is further behind than SOURCEBOOK_SEARCH_LAG allows."""


class DatabaseBusyError(DatabaseError):
    """The database did not answer within the limit: a lock, a slow statement or no free connection; retry later."""

    is_temporary = True


class DatabaseDeadlockError(DatabaseBusyError):
    """The database ended a statement because two sessions waited for each other's locks; retry at once."""


class ModelError(SourcebookError):
    """The embedding model cannot be found, verified or loaded."""


class OriginalError(SourcebookError):
    """The bytes that a document was made from cannot be had now; a retry can succeed."""


class WithheldError(SourcebookError):
    """The bytes that a document was made from are not given out: its collection redacts what leaves it."""


class OriginalGoneError(OriginalError):
    """The source of a document no longer has the bytes that it was made from, or they were never kept."""


class FailureClass(StrEnum):
    """Class of the failure of an item, beside the sentence that a person reads. The set is closed."""

    PASSWORD = "password"  # noqa: S105 - a class of failures
    """It is encrypted or otherwise protected."""
    CORRUPT = "corrupt"
    """Its content is damaged."""
    TOO_LARGE = "too_large"
    """It has more bytes, pages, pixels or seconds than the settings allow."""
    UNSUPPORTED = "unsupported"
    """Its format or address is none that is read."""
    EMPTY = "empty"
    """It holds nothing that could be read."""
    MEMORY = "memory"
    """It needs more memory than the settings or the machine allow."""
    TIMEOUT = "timeout"
    """It took longer than the settings allow."""
    CRASH = "crash"
    """The process that worked on it ended."""
    MISSING = "missing"
    """It is not there, or changed while it was read."""
    UNREADABLE = "unreadable"
    """The file system or the store does not give its bytes."""
    FORBIDDEN = "forbidden"
    """Permission is missing: of the file system, of a server (401, 403), of robots.txt, or for a private address."""
    NETWORK = "network"
    """A host cannot be reached, or the connection broke."""
    SERVER = "server"
    """A web server answers with an error or with something that is no answer."""
    MODEL = "model"
    """A model or a program that reading needs is missing or does not start."""
    HELD = "held"
    """A source lacks so many of its documents at once that they are kept until they are back or it is accepted."""
    OTHER = "other"
    """It failed before failures had a class."""

    @property
    def most_attempts(self) -> int | None:
        """Attempts in a row before an item is parked; None where the setting `retries.attempts` alone decides."""
        if self in _DETERMINISTIC:
            return 1
        return MOST_HEAVY_ATTEMPTS if self in _HEAVY else None


MOST_HEAVY_ATTEMPTS: Final = 3
"""Attempts where each costs a time limit or a process, and another item on the machine may have been the reason."""
_DETERMINISTIC: Final = frozenset(
    {
        FailureClass.PASSWORD,
        FailureClass.CORRUPT,
        FailureClass.UNSUPPORTED,
        FailureClass.EMPTY,
    }
)
"""Classes that depend on the content alone. Other settings may allow larger content."""
_HEAVY: Final = frozenset({FailureClass.MEMORY, FailureClass.TIMEOUT, FailureClass.CRASH})


def failure_class_of(error: Exception) -> FailureClass:
    """Return the class of an error that a file system, a store or a socket raised, by its type."""
    for kinds, failure_class in (
        (FileNotFoundError, FailureClass.MISSING),
        (PermissionError, FailureClass.FORBIDDEN),
        (TimeoutError, FailureClass.TIMEOUT),
        (ConnectionError, FailureClass.NETWORK),
        (MemoryError, FailureClass.MEMORY),
    ):
        if isinstance(error, kinds):
            return failure_class
    return FailureClass.UNREADABLE


class _ClassifiedError(SourcebookError):
    """An error with a class, which survives the way out of a child process."""

    def __init__(self, reason: str, failure_class: FailureClass) -> None:
        super().__init__(reason)
        self.failure_class = failure_class

    def __reduce__(self) -> tuple[type[Self], tuple[str, FailureClass], dict[str, object]]:
        return type(self), (str(self), self.failure_class), self.__dict__


class ParseError(_ClassifiedError):
    """One document's bytes could not be turned into text; the message is the reason a person reads."""


class TemporaryParseError(ParseError):
    """Parsing one document was ended from outside or took too long: another attempt may succeed."""


class ParserError(SourcebookError):
    """A parser's models cannot be found or loaded: wrong for every document, not for one."""


class ListingError(_ClassifiedError):
    """A source could not be listed completely, so nothing in it may be called gone."""


class QueryError(SourcebookError):
    """A search request is empty, too long, or names something that does not exist."""


class SettingsError(QueryError):
    """Settings that were sent are not allowed; the message names the field and repeats no value.

    Args:
        problems: sentences, each of which begins with the place of its setting, such as `sites[0].url: …`.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class UnknownCollectionError(QueryError):
    """There is no collection of a name."""


class TakenDocumentError(QueryError):
    """A document follows the collection that it is taken from; the message names that one."""


class UnknownSourceError(QueryError):
    """A collection has no source at a location."""


class UnknownDocumentError(SourcebookError):
    """No document has this id, URI or path."""


class AmbiguousDocumentError(UnknownDocumentError):
    """Several documents end with this path, or several collections have this document."""


class UploadError(SourcebookError):
    """Bytes could not be stored; nothing of them is left."""


class UploadSpaceError(UploadError):
    """There is no space for an upload."""


class EmptyUploadError(UploadError):
    """An upload has no bytes."""


class UploadNameError(QueryError):
    """An upload cannot have this name or these tags."""


class UnknownUploadError(QueryError):
    """There is no upload of this name."""


class MissingDependencyError(SourcebookError):
    """A part of Sourcebook needs a package that is not installed."""


class RecordingError(_ClassifiedError):
    """One recording could not be transcribed; the message is the reason a person reads, and what to do."""


class TemporaryRecordingError(RecordingError):
    """Transcribing one recording was ended from outside, often for lack of memory: another attempt may succeed."""


class SpeechError(SourcebookError):
    """The speech engine or its model cannot be found, verified or loaded."""

    failure_class = FailureClass.MODEL


class TransferError(SourcebookError):
    """An export or a backup cannot be written or read: no place for it, or a damaged or foreign file."""


class AccessError(SourcebookError):
    """A server refuses a request for want of a key: none was sent, it is not valid, or it does not allow this."""


class RateLimitError(AccessError):
    """A server has had as many requests as it takes from this key.

    Args:
        detail: words of the server.
        seconds: seconds after which it asks for the next request; None where it says nothing.
    """

    def __init__(self, detail: str, seconds: float | None = None) -> None:
        super().__init__(detail)
        self.seconds = seconds
