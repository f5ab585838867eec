"""The errors a user meets: each says what happened to which item, and what to do about it."""

from typing import ClassVar


class SourcebookError(Exception):
    """Sourcebook could not do what was asked."""


class ConfigurationError(SourcebookError):
    """The configuration file is missing, malformed, or asks for something impossible."""


class ImmutableSettingError(ConfigurationError):
    """A setting that a collection's generation was built with has been changed in the file."""


class DatabaseError(SourcebookError):
    """The database cannot be used: it is out of reach, too old, full, or lacks pgvector.

    Args:
        detail: What happened.
        remedy: Advice to a person, in the imperative.
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


class DatabaseBusyError(DatabaseError):
    """The database did not answer within the limit: a lock, a slow statement or no free connection; retry later."""

    is_temporary = True


class ModelError(SourcebookError):
    """The embedding model cannot be found, verified or loaded."""


class ParseError(SourcebookError):
    """One document's bytes could not be turned into text; the message is the reason a person reads."""


class TemporaryParseError(ParseError):
    """Parsing one document was ended from outside or took too long: another attempt may succeed."""


class ParserError(SourcebookError):
    """A parser's models cannot be found or loaded: wrong for every document, not for one."""


class ListingError(SourcebookError):
    """A source could not be listed completely, so nothing in it may be called gone."""


class QueryError(SourcebookError):
    """A search request is empty, too long, or names something that does not exist."""


class UnknownDocumentError(SourcebookError):
    """No document has this id, URI or path."""


class MissingDependencyError(SourcebookError):
    """A part of Sourcebook needs a package that is not installed."""


class RecordingError(SourcebookError):
    """One recording could not be transcribed; the message is the reason a person reads, and what to do."""


class SpeechError(SourcebookError):
    """The speech engine or its model cannot be found, verified or loaded."""
