"""Which parser reads which media type, and why the others are skipped."""

import shutil
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.media_types import (
    ASCIIDOC,
    BINARY,
    CODE_LANGUAGES,
    CSV,
    DOC,
    DOCX,
    EMAIL,
    EPUB,
    HTML,
    JSON,
    JSON_LINES,
    LATEX,
    MARKDOWN,
    ODP,
    ODS,
    ODT,
    OLE,
    OUTLOOK,
    PDF,
    PLAIN_TEXT,
    PPT,
    PPTX,
    RTF,
    TOML,
    XLS,
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
    "asciidoc",
    "latex",
    "docx",
    "pptx",
    "xlsx",
    "epub",
    "mail",
    "pdf",
    "docling",
    "image",
    "legacy",
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


_DOCLING = ("docling-slim", "docling-core")
_MARKUP = ("html-to-markdown", "lxml")
_RECOGNITION = ("rapidocr", "onnxruntime")
_REVISIONS: dict[ParserName, tuple[int, tuple[str, ...]]] = {
    # Count the revision up when the parser's own code changes what it returns.
    "markdown": (2, ("markdown-it-py",)),
    "text": (2, ()),
    "code": (2, ("tree-sitter-language-pack",)),
    "json": (1, ()),
    "jsonl": (1, ()),
    "yaml": (1, ()),
    "toml": (1, ()),
    "html": (2, _DOCLING),
    "csv": (2, ()),
    "asciidoc": (1, ("markdown-it-py",)),
    "latex": (1, ("markdown-it-py", "pylatexenc")),
    "docx": (2, (*_DOCLING, "python-docx")),
    "pptx": (2, (*_DOCLING, "python-pptx")),
    "xlsx": (2, (*_DOCLING, "openpyxl")),
    "epub": (1, _MARKUP),
    "mail": (2, (*_MARKUP, "python-oxmsg", "striprtf")),
    "pdf": (2, ("docling-parse", "docling-core", "pypdfium2")),
    "docling": (1, ("docling", "docling-ibm-models", "docling-core")),
    "image": (1, ("docling-core", "pillow")),
    "legacy": (1, _DOCLING),
    "page": (2, ()),
    "transcript": (1, ()),
}
_TELL_LANGUAGE = frozenset(_REVISIONS) - {"code", "json", "jsonl", "yaml", "toml", "transcript"}
_RECOGNISES = frozenset({"pdf", "docling", "image"})
_CONVERTED = (DOC, PPT, XLS, RTF, ODT, ODP, ODS)
_IMAGES = ("image/png", "image/jpeg", "image/tiff", "image/gif", "image/webp", "image/bmp")
_PARSERS: dict[str, ParserName] = {
    MARKDOWN: "markdown",
    PLAIN_TEXT: "text",
    HTML: "html",
    CSV: "csv",
    ASCIIDOC: "asciidoc",
    LATEX: "latex",
    PDF: "pdf",
    DOCX: "docx",
    PPTX: "pptx",
    XLSX: "xlsx",
    EPUB: "epub",
    EMAIL: "mail",
    OUTLOOK: "mail",
    JSON: "json",
    JSON_LINES: "jsonl",
    YAML: "yaml",
    TOML: "toml",
    OLE: "legacy",
    **dict.fromkeys(_CONVERTED, "legacy"),
    **dict.fromkeys(_IMAGES, "image"),
    **{f"text/x-{language}": "code" for language in CODE_LANGUAGES},
}
_REASONS = {
    "application/vnd.ms-excel.sheet.binary": "the binary Excel format is not read; convert it to .xlsx",
    "application/vnd.sqlite3": "databases are not read; export the tables to .csv",
    "application/vnd.apache.parquet": "Parquet files are not read; export the table to .csv",
    "application/x-executable": "programs are not read",
    "application/wasm": "programs are not read",
    "application/java-vm": "programs are not read",
    "application/x-python-bytecode": "programs are not read",
    "image/svg+xml": "SVG images are not read in this version",
    BINARY: "binary file of unknown type",
    **dict.fromkeys(
        _CONVERTED, "it is read where LibreOffice is installed; install that, or convert it to .docx, .pptx or .xlsx"
    ),
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
_DEFAULT = ParsingSettings()


def parser_for(media_type: str, settings: ParsingSettings = _DEFAULT) -> ParserInfo | None:
    """Return the parser of a media type, None where there is none; imports no parser."""
    if media_type in _CONVERTED and libreoffice() is None:
        return None
    name = _PARSERS.get(media_type)
    return None if name is None else _info(_chosen(name, settings), ocr=settings.ocr, models=settings.models)


def is_taken(media_type: str) -> bool:
    """Whether files of this type become documents: they are parsed or transcribed."""
    return parser_for(media_type) is not None or is_recording(media_type)


def libreoffice() -> str | None:
    """Return the LibreOffice program that converts old office formats, None where there is none."""
    return shutil.which("soffice") or shutil.which("libreoffice")


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
            return f"{kind.removeprefix('x-').upper()} images are not read in this version; save it as .png"
        case "font":
            return "fonts hold no text"
        case _:
            return f"files of type {media_type} are not read in this version"


def parser_identities(settings: ParsingSettings = _DEFAULT) -> dict[str, str]:
    """Return the identity of the parser of every format: what a document's `config_hash` should be.

    A format is a media type, or `page` for the main content of a crawled HTML page, or `transcript` for the
    segments of a recording.
    """
    found = {media_type: parser_for(media_type, settings) for media_type in _PARSERS}
    identities = {media_type: parser.identity for media_type, parser in found.items() if parser is not None}
    return identities | {name: _info(name, ocr=False, models=None).identity for name in (PAGE, TRANSCRIPT)}


def _chosen(name: ParserName, settings: ParsingSettings) -> ParserName:
    return "docling" if name == "pdf" and settings.parser == "docling" else name


@cache
def _info(name: ParserName, *, ocr: bool, models: str | None) -> ParserInfo:
    revision, distributions = _REVISIONS[name]
    distributions += ("py3langid",) if name in _TELL_LANGUAGE else ()
    distributions += _RECOGNITION if name in _RECOGNISES and ocr else ()
    versions = [f"{distribution}-{_version(distribution)}" for distribution in distributions]
    named = [f"models-{models}"] if name == "docling" and models else []
    return ParserInfo(name, "+".join([f"{name}/{revision}", *versions, *named]))


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"
