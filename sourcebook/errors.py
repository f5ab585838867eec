"""The errors a user meets: each says what happened to which item, and what to do about it."""


class SourcebookError(Exception):
    """Sourcebook could not do what was asked."""


class ConfigurationError(SourcebookError):
    """The configuration file is missing, malformed, or asks for something impossible."""


class ImmutableSettingError(ConfigurationError):
    """A setting that a collection's generation was built with has been changed in the file."""


class DatabaseError(SourcebookError):
    """The database cannot be reached, is too old, or lacks pgvector."""


class ModelError(SourcebookError):
    """The embedding model cannot be found, verified or loaded."""


class ParseError(SourcebookError):
    """One document's bytes could not be turned into text; the message is the reason a person reads."""


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
