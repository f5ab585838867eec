"""Which parser reads which media type, and why the others are skipped."""

from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from sourcebook.parsing.extensions import (
    BINARY,
    CODE_LANGUAGES,
    CSV,
    DOCX,
    EMAIL,
    EPUB,
    HTML,
    JSON,
    JSON_LINES,
    MARKDOWN,
    OLE,
    PDF,
    PLAIN_TEXT,
    PPTX,
    TOML,
    XLSX,
    YAML,
    is_recording,
)

ParserName = Literal[
    "markdown",
    "text",
    "code",
    "json",
    "jsonl",
    "yaml",
    "toml",
    "html",
    "csv",
    "docx",
    "pptx",
    "xlsx",
    "pdf",
    "page",
    "transcript",
]
PAGE: ParserName = "page"
"""Not a parser of a media type: takes on the main content that a crawl keeps of an HTML page."""
TRANSCRIPT: ParserName = "transcript"
"""Not a parser of a media type either: makes a document of what was said in a recording."""


@dataclass(frozen=True, slots=True)
class ParserInfo:
    """A parser and what its output depends on."""

    name: ParserName
    identity: str
    """Changes whenever the parser may give another result for the same bytes."""


_REVISIONS: dict[ParserName, tuple[int, tuple[str, ...]]] = {
    # Count the revision up when the parser's own code changes what it returns.
    "markdown": (1, ("markdown-it-py",)),
    "text": (1, ()),
    "code": (1, ()),
    "json": (1, ()),
    "jsonl": (1, ()),
    "yaml": (1, ()),
    "toml": (1, ()),
    "html": (1, ("docling-slim", "docling-core")),
    "csv": (1, ()),
    "docx": (1, ("docling-slim", "docling-core")),
    "pptx": (1, ("docling-slim", "docling-core")),
    "xlsx": (1, ("docling-slim", "docling-core")),
    "pdf": (1, ("docling-parse",)),
    "page": (1, ()),
    "transcript": (1, ()),
}
_TELL_LANGUAGE = frozenset({"markdown", "text", "html", "csv", "docx", "pptx", "xlsx", "pdf", "page"})
_PARSERS: dict[str, ParserName] = {
    MARKDOWN: "markdown",
    PLAIN_TEXT: "text",
    HTML: "html",
    CSV: "csv",
    PDF: "pdf",
    DOCX: "docx",
    PPTX: "pptx",
    XLSX: "xlsx",
    JSON: "json",
    JSON_LINES: "jsonl",
    YAML: "yaml",
    TOML: "toml",
    **{f"text/x-{language}": "code" for language in CODE_LANGUAGES},
}
_REASONS = {
    EPUB: "EPUB books are not read in this version; convert it to .html or .docx",
    EMAIL: "e-mail messages are not read in this version; save it as .html or .txt",
    "application/vnd.ms-outlook": "Outlook messages are not read in this version; save it as .html or .txt",
    "application/msword": "the old binary Word format is not read; convert it to .docx",
    "application/vnd.ms-powerpoint": "the old binary PowerPoint format is not read; convert it to .pptx",
    "application/vnd.ms-excel": "the old binary Excel format is not read; convert it to .xlsx",
    "application/vnd.ms-excel.sheet.binary": "the binary Excel format is not read; convert it to .xlsx",
    OLE: "old binary Office files and password-protected documents are not read; "
    "save it as .docx, .pptx or .xlsx without a password",
    "application/rtf": "RTF is not read in this version; convert it to .docx",
    "application/vnd.oasis.opendocument.text": "OpenDocument is not read in this version; convert it to .docx",
    "application/vnd.oasis.opendocument.presentation": "OpenDocument is not read in this version; convert it to .pptx",
    "application/vnd.oasis.opendocument.spreadsheet": "OpenDocument is not read in this version; convert it to .xlsx",
    "application/vnd.sqlite3": "databases are not read; export the tables to .csv",
    "application/vnd.apache.parquet": "Parquet files are not read; export the table to .csv",
    "application/x-executable": "programs are not read",
    "application/wasm": "programs are not read",
    "application/java-vm": "programs are not read",
    "application/x-python-bytecode": "programs are not read",
    "image/svg+xml": "SVG images are not read in this version",
    BINARY: "binary file of unknown type",
}
_ARCHIVES = frozenset(
    {
        "application/zip",
        "application/gzip",
        "application/x-bzip2",
        "application/x-xz",
        "application/zstd",
        "application/x-7z-compressed",
        "application/vnd.rar",
        "application/x-tar",
    },
)


def parser_for(media_type: str) -> ParserInfo | None:
    """Return the parser of a media type, None where there is none; imports no parser."""
    name = _PARSERS.get(media_type)
    return None if name is None else _info(name)


def is_taken(media_type: str) -> bool:
    """Whether files of this type become documents: they are parsed or transcribed."""
    return media_type in _PARSERS or is_recording(media_type)


def skip_reason(media_type: str) -> str:
    """Say why files of an unsupported type are skipped, and where it helps, what to do."""
    known = _REASONS.get(media_type)
    if known is not None:
        return known
    if media_type in _ARCHIVES:
        return "archives are not opened; unpack it into the source"
    family, _, kind = media_type.partition("/")
    match family:
        case "image":
            return f"{kind.removeprefix('x-').upper()} images are not read in this version"
        case "font":
            return "fonts hold no text"
        case _:
            return f"files of type {media_type} are not read in this version"


@cache
def _info(name: ParserName) -> ParserInfo:
    revision, distributions = _REVISIONS[name]
    distributions += ("py3langid",) if name in _TELL_LANGUAGE else ()
    versions = [f"{distribution}-{_version(distribution)}" for distribution in distributions]
    return ParserInfo(name, "+".join([f"{name}/{revision}", *versions]))


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def parser_identities() -> dict[str, str]:
    """Return the identity of the parser of every format: what a document's `config_hash` should be.

    A format is a media type, or `page` for the main content of a crawled HTML page, or `transcript` for the
    segments of a recording.
    """
    identities = {media_type: _info(name).identity for media_type, name in _PARSERS.items()}
    return identities | {name: _info(name).identity for name in (PAGE, TRANSCRIPT)}
