"""The entry point of all parsers."""

import errno
import gzip
import warnings
import zlib
from dataclasses import replace
from functools import cache
from importlib import import_module
from io import BytesIO
from typing import Final, Protocol, cast

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, MissingDependencyError, ParseError, ParserError, TemporaryParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import XML, is_text_type
from sourcebook.parsing.chats.read_chat import read_chat
from sourcebook.parsing.hidden_errors import note_cause
from sourcebook.parsing.registry import parser_for, skip_reason
from sourcebook.parsing.storable_content import storable_content
from sourcebook.parsing.text.picture_marks import marked_pictures

_DEFAULT = ParsingSettings()
OUT_OF_MEMORY_TEXTS = (
    "bad_alloc",
    "Failed to allocate memory",
    "Cannot allocate memory",
    "Insufficient memory",
    "memory allocation of",
    "failed to map segment",
)
"""Texts of errors by which compiled libraries report that memory ran out."""
_NEEDS_MEMORY = "it needs more memory than parsing.memory allows; raise that, or split the file"
_OF_CODE = frozenset({"builtins", "pydantic_core._pydantic_core"})
"""Modules of errors that speak of a parser's code, and not of the file."""
_OF_THE_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EIO, errno.EROFS})
"""Errors of the system that no file causes."""
_GZIP: Final = b"\x1f\x8b"
_MOST_BYTES: Final = 64 << 20
"""Bytes that a compressed text may unpack to."""


class _ParserFunction(Protocol):
    def __call__(self, content: bytes, **arguments: object) -> ParsedDocument: ...


def parse(content: bytes, *, name: str, media_type: str, settings: ParsingSettings = _DEFAULT) -> ParsedDocument:
    """Turn a file's bytes into Markdown and its blocks.

    An empty file, or a file of white space only, gives a document without blocks.

    Args:
        content: the whole file.
        name: file name, path or URI; its extension refines the media type (the programming language).
        media_type: the result of `detect_media_type`.
        settings: the choice of the PDF parser, and whether OCR is on.

    Raises:
        ParseError: no parser reads this type, or the content is broken, protected, or holds no text.
        TemporaryParseError: the machine lacks room or open files, or a disk fails.
        MissingDependencyError: the parser's package is not installed.
        ParserError: the parser's models cannot be loaded.
    """
    parser = parser_for(media_type, settings)
    if not content.strip():
        return ParsedDocument(markdown="", blocks=())
    if parser is None:
        raise ParseError(skip_reason(media_type), FailureClass.UNSUPPORTED)
    known = {"name": name, "media_type": media_type, "settings": settings}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parsing libraries warn about odd files and their own deprecations
            content = unpacked_text(content) if is_text_type(media_type) else content
            with marked_pictures() as pictures:
                document = _export(content, media_type)
                if document is None:
                    read = _imported(parser.function)
                    document = read(content, **{argument: known[argument] for argument in parser.arguments})
            if pictures.contents:
                from sourcebook.parsing.picture_texts import with_picture_texts  # few documents have pictures

                document = with_picture_texts(document, pictures.contents, settings)
            document = storable_content(document)
            return document if document.markdown.strip() else replace(document, markdown="")
    except (ParseError, MissingDependencyError, ParserError):
        raise
    except ImportError as error:
        if ran_out_of_memory(error):  # what the process keeps of earlier files left none for a library
            raise ParseError(_NEEDS_MEMORY, FailureClass.MEMORY) from error
        missing = error.name or str(error)
        raise MissingDependencyError(
            f"reading {media_type} needs the package {missing}; install sourcebook[pipeline]",
        ) from error
    except RecursionError as error:
        raise ParseError(
            "its structure is nested too deeply to be read; simplify it, or save it as plain text",
            FailureClass.TOO_LARGE,
        ) from error
    except Exception as error:  # a parsing library may raise anything on a broken file
        if ran_out_of_memory(error):
            raise ParseError(_NEEDS_MEMORY, FailureClass.MEMORY) from error
        if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
            raise TemporaryParseError(
                f"this machine stopped the {parser.name} parser ({error.strerror}); mend that, then ingest again",
                FailureClass.UNREADABLE,
            ) from error
        said = f"the {parser.name} parser cannot read it{_reason(error)}; open and save it again, or convert it"
        raise note_cause(ParseError(said, FailureClass.CORRUPT), error) from error


def _export(content: bytes, media_type: str) -> ParsedDocument | None:
    """Return the document of a file that another program has exported, in which it keeps what people wrote."""
    if media_type == XML and b"<mediawiki" in content[:1024]:
        from sourcebook.parsing.markup.mediawiki import read_wiki  # it needs the reader of HTML

        return read_wiki(content)
    return read_chat(content, media_type)


def _reason(error: Exception) -> str:
    """Return what a parsing library says about a file, in brackets; "" for an error of its code (KeyError)."""
    reason = " ".join(str(error).split())[:200]
    return "" if type(error).__module__ in _OF_CODE or not reason else f" ({reason})"


def ran_out_of_memory(error: BaseException | None) -> bool:
    """Tell whether an error reports that memory ran out, by its type or by its text."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in OUT_OF_MEMORY_TEXTS)


@cache
def _imported(function: str) -> _ParserFunction:
    """Import a parser when the first file needs it; docling alone takes seconds."""
    module, _, name = function.partition(":")
    return cast(_ParserFunction, getattr(import_module(f"sourcebook.parsing.{module}"), name))


def unpacked_text(content: bytes) -> bytes:
    """Return a text as it was before gzip compressed it; one that is not compressed as it is.

    Raises:
        ParseError: it is damaged, or unpacks to more than 64 MiB.
    """
    if not content.startswith(_GZIP):
        return content
    try:
        unpacked = gzip.GzipFile(fileobj=BytesIO(content)).read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ParseError("it is damaged or cut off; open and save it again", FailureClass.CORRUPT) from error
    if len(unpacked) > _MOST_BYTES:
        raise ParseError(f"it unpacks to more than {_MOST_BYTES >> 20} MiB; split it", FailureClass.TOO_LARGE)
    return unpacked
