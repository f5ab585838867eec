"""The table of formats: the parser of each media type, and the reasons why other types are skipped."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Literal

from sourcebook.config.parsing import SAVED_PAGE, ParsingSettings
from sourcebook.installation import package_version
from sourcebook.model import media_types as media
from sourcebook.parsing.other_programs import PROGRAMS

PAGE = "page"
"""Name of the parser of crawled HTML pages, whose main content the crawl keeps; it has no media type."""
TRANSCRIPT = "transcript"
"""Name of the parser of transcripts; it has no media type, because recordings are transcribed first."""

WITHIN = "within "
"""Beginning of the formats of files in archives and messages, and of pages: data there are never read as records."""

Argument = Literal["name", "media_type", "settings"]


@dataclass(frozen=True, slots=True)
class Parser:
    """A function that turns a file's bytes into a `ParsedDocument`."""

    name: str
    function: str
    """Module below `sourcebook.parsing` and function, imported when the first file needs it."""
    arguments: tuple[Argument, ...] = ()
    """Keyword arguments of the function; its only positional argument is the file's content."""
    media_types: tuple[str, ...] = ()
    revision: int = 1
    """Number to be counted up when a change of the parser's own code changes its result, or the name in its title."""
    packages: tuple[str, ...] = ()
    """Distributions on whose versions the result depends."""
    detects_language: bool = True
    uses_ocr: bool = False


@dataclass(frozen=True, slots=True)
class FileType:
    """Media type of a file, and whether the file becomes a document."""

    media_type: str
    skip_reason: str | None
    """Reason to skip the file; None where it is parsed or transcribed."""


_IMAGES = ("image/png", "image/jpeg", "image/tiff", "image/gif", "image/webp", "image/bmp", "image/avif", "image/heic")
_CODE = tuple(f"text/x-{language}" for language in media.CODE_LANGUAGES if f"text/x-{language}" != media.XML)
_DOCLING = ("docling-slim", "docling-core")
_SHEETS = (*_DOCLING, "openpyxl", "formualizer")
_MARKUP = ("html-to-markdown", "lxml")
_OFFICE: tuple[Argument, ...] = ("name", "media_type")
_ENCODINGS = ("chardet",)
_DATA = "records.read_records:parse_data"
_DATA_ARGUMENTS: tuple[Argument, ...] = ("name", "media_type", "settings")
_RECOGNITION = ("rapidocr", "onnxruntime")

# fmt: off
PARSERS = (
    Parser("markdown", "text.markdown:parse_markdown", (), (media.MARKDOWN,), 7, ("markdown-it-py", *_ENCODINGS),
           uses_ocr=True),
    Parser("text", "text.plain_text:parse_plain_text", (), (media.PLAIN_TEXT,), 7, _ENCODINGS),
    Parser("csv", _DATA, _DATA_ARGUMENTS, (media.CSV,), 6, _ENCODINGS),
    Parser("code", "text.fenced:parse_code", ("name", "media_type"), _CODE, 6, ("tree-sitter-language-pack",), False),
    Parser("json", _DATA, _DATA_ARGUMENTS, (media.JSON,), 6, _ENCODINGS, detects_language=False),
    Parser("jsonl", _DATA, _DATA_ARGUMENTS, (media.JSON_LINES,), 6, _ENCODINGS, detects_language=False),
    Parser("yaml", _DATA, _DATA_ARGUMENTS, (media.YAML,), 6, _ENCODINGS, detects_language=False),
    Parser("toml", _DATA, _DATA_ARGUMENTS, (media.TOML,), 6, _ENCODINGS, detects_language=False),
    Parser("record", "records.read_record:parse_record", ("name",), (media.RECORD,), 3,
           ("markdown-it-py", *_MARKUP, "selectolax")),
    Parser("source record", "records.read_envelope:parse_envelope", ("name", "settings"), (media.SOURCE_RECORD,), 3,
           ("markdown-it-py", *_MARKUP, "selectolax", *_ENCODINGS), uses_ocr=True),
    Parser("notebook", "markup.notebook:parse_notebook", (), (media.NOTEBOOK,), 5, ("markdown-it-py", *_MARKUP),
           uses_ocr=True),
    Parser("timed text", "text.timed_text:parse_timed_text", (), (media.SUBRIP, media.WEBVTT), 2),
    Parser("html", "html.read_html:parse_html", ("settings",), (media.HTML,), 13, (*_MARKUP, "selectolax"),
           uses_ocr=True),
    Parser("asciidoc", "markup.asciidoc:parse_asciidoc", ("name",), (media.ASCIIDOC,), 5, ("markdown-it-py",)),
    Parser("latex", "markup.latex:parse_latex", ("name",), (media.LATEX,), 6, ("markdown-it-py", "pylatexenc")),
    Parser("rst", "markup.restructuredtext:parse_rst", (), (media.RST,), 8, ("docutils", *_MARKUP, "selectolax")),
    Parser("org", "markup.org:parse_org", (), (media.ORG,), 3, ("markdown-it-py", *_ENCODINGS)),
    Parser("xml", _DATA, _DATA_ARGUMENTS, (media.DOCBOOK, media.XML), 6,
           (*_MARKUP, "selectolax", "tree-sitter-language-pack")),
    Parser("docx", "office.read_office:parse_office", _OFFICE, (media.DOCX,), 8, (*_DOCLING, "python-docx", "olefile"),
           uses_ocr=True),
    Parser("pptx", "office.read_office:parse_office", _OFFICE, (media.PPTX,), 8, (*_DOCLING, "python-pptx", "olefile"),
           uses_ocr=True),
    Parser("xlsx", "office.read_office:parse_office", _OFFICE, (media.XLSX,), 8, (*_SHEETS, "olefile"),
           uses_ocr=True),
    Parser("xls", "office.legacy.read_legacy:parse_legacy", _OFFICE, (media.XLS,), 7, (*_SHEETS, "xlrd"),
           uses_ocr=True),
    Parser("legacy", "office.legacy.read_legacy:parse_legacy", _OFFICE, (media.OLE, media.DOC, media.PPT), 7,
           (*_DOCLING, "firecrawl-anydoc", "olefile"),
           uses_ocr=True),
    Parser("drawing", "markup.svg:parse_svg", (), (media.SVG,), 2, ("lxml",)),
    Parser("rtf", "office.rtf:parse_rtf", (), (media.RTF,), 4, ("striprtf",)),
    Parser("opendocument", "office.opendocument.read_opendocument:parse_opendocument", _OFFICE,
           (media.ODT, media.ODP, media.ODS), 5, (*_DOCLING, "odfdo", "lxml"),
           uses_ocr=True),
    Parser("epub", "epub:parse_epub", ("name",), (media.EPUB,), 7, _MARKUP,
           uses_ocr=True),
    Parser("fictionbook", "markup.fictionbook:parse_fictionbook", (), (media.FICTIONBOOK,), 3,
           (*_MARKUP, "selectolax"),
           uses_ocr=True),
    Parser("mail", "mail.read_mail:parse_mail", ("media_type",), (media.EMAIL, media.OUTLOOK), 15,
           (*_MARKUP, "selectolax", "python-oxmsg", "striprtf", "pypdfium2"),
           uses_ocr=True),
    Parser("mailbox", "mail.mailbox:parse_mailbox", (), (media.MBOX,), 11,
           (*_MARKUP, "selectolax", "pypdfium2"),
           uses_ocr=True),
    Parser("archive", "archives.read_archive:parse_archive", ("media_type",), (media.ZIP, media.TAR), 2,
           detects_language=False),
    Parser("database", "tables.sqlite_database:parse_sqlite", (), (media.SQLITE,), detects_language=False),
    Parser("parquet", "tables.parquet:parse_parquet", (), (media.PARQUET,), 1, ("pyarrow",), detects_language=False),
    Parser("calendar", "cards.read_calendar:parse_calendar", (), (media.CALENDAR,), 2),
    Parser("contacts", "cards.read_contacts:parse_contacts", (), (media.CONTACTS,), 2),
    Parser("web archive", "html.web_archive:parse_web_archive", ("settings",), (media.MHTML,), 6,
           (*_MARKUP, "selectolax"), uses_ocr=True),
    Parser("pdf", "pdf.read_pdf:parse_pdf", ("settings",), (media.PDF,), 16,
           ("docling-parse", "docling-core", "pypdfium2"), uses_ocr=True),
    Parser("docling", "pdf.docling_pipeline:parse_with_models", ("name", "settings"), (), 3,
           ("docling", "docling-ibm-models", "docling-core", "pypdfium2"), uses_ocr=True),
    Parser("image", "pdf.pictures.read_picture:parse_image", ("settings",), _IMAGES, 9, ("docling-core", "pillow"),
           uses_ocr=True),
    Parser(PAGE, "html.read_html:page_document", revision=2),
    Parser(TRANSCRIPT, "transcript:parse_transcript", detects_language=False),
)
"""Every parser, each with the media types of its formats."""
# fmt: on
_BY_NAME = {parser.name: parser for parser in PARSERS}
_BY_MEDIA_TYPE = {media_type: parser for parser in PARSERS for media_type in parser.media_types}
_REASONS = {
    media.XLSB: "the binary Excel format is not read; save it as .xlsx in Excel",
    media.BINARY: "binary file of unknown type",
    "application/x-packed": "its format is not read; if it is a ZIP archive, give its name the ending .zip",
    **dict.fromkeys(
        ("application/x-executable", "application/wasm", "application/java-vm", "application/x-python-bytecode"),
        "programs are not read",
    ),
    **dict.fromkeys(
        (
            "application/gzip",
            "application/x-bzip2",
            "application/x-xz",
            "application/zstd",
            "application/x-7z-compressed",
            "application/vnd.rar",
            "application/java-archive",
        ),
        "archives of this kind are not opened; unpack it into the source, with 7-Zip for example",
    ),
}
_DEFAULT = ParsingSettings()


def parser_for(media_type: str, settings: ParsingSettings = _DEFAULT) -> Parser | None:
    """Return the parser of a media type, or None where there is none; imports no parser."""
    parser = _BY_MEDIA_TYPE.get(media_type)
    return _BY_NAME["docling"] if media_type == media.PDF and settings.parser == "docling" else parser


def is_taken(media_type: str) -> bool:
    """Tell whether files of a media type become documents, parsed or transcribed."""
    return parser_for(media_type) is not None or media.is_recording(media_type)


def parsed_media_types() -> list[str]:
    """Return the media types with a parser on this machine."""
    return sorted(media_type for media_type in _BY_MEDIA_TYPE if parser_for(media_type) is not None)


def file_type(name: str, head: bytes) -> FileType:
    """Return the media type of a file, and the reason to skip it where its type is not read.

    Args:
        name: file name, path or URI.
        head: first `HEAD_BYTES` of the file, or all of a shorter one.
    """
    from sourcebook.parsing.media_type import detect_media_type  # most looks at a collection read no file

    media_type = detect_media_type(name, head)
    return FileType(media_type, None if is_taken(media_type) else skip_reason(media_type))


def skip_reason(media_type: str) -> str:
    """Return the reason why files of an unsupported media type are skipped, with a remedy where there is one."""
    known = _REASONS.get(media_type)
    if known is not None:
        return known
    if media_type in PROGRAMS:
        return f"its format is not read; {PROGRAMS[media_type]}"
    family, _, kind = media_type.partition("/")
    match family:
        case "image":
            name = kind.removeprefix("x-").upper()
            return f"{name} images are not read in this version; open it in an image viewer and save it as .png"
        case "font":
            return "fonts hold no text"
        case _:
            return f"files of type {media_type} are not read in this version"


def parser_identity(media_type: str, settings: ParsingSettings = _DEFAULT) -> str | None:
    """Return the identity of a media type's parser, or None where there is none.

    The identity changes whenever the parser may give another result for the same bytes.
    """
    parser = parser_for(media_type, settings)
    return None if parser is None else _identity(parser, ocr=settings.ocr, option=_option(parser, settings))


def parser_identities(settings: ParsingSettings = _DEFAULT) -> dict[str, str]:
    """Return the identity of the parser of each format, which a current document has as its `config_hash`.

    A format is a media type, `page` for the main content of a crawled HTML page, or `transcript` for the segments of
    a recording. Behind `WITHIN`, it is that of a file within a file and of a page, which stays one document.
    """
    found = {media_type: parser_identity(media_type, settings) for media_type in _BY_MEDIA_TYPE}
    without_type = {name: _identity(_BY_NAME[name], ocr=False, option="") for name in (PAGE, TRANSCRIPT)}
    known = {format_: identity for format_, identity in found.items() if identity is not None} | without_type
    whole = settings.model_copy(update={"records": "never"})
    within = {media_type: identity for media_type in media.DATA if (identity := parser_identity(media_type, whole))}
    return known | {f"{WITHIN}{format_}": identity for format_, identity in (known | within).items()}


def page_identity() -> str:
    """Return the identity of the parser of crawled HTML pages, which depends on no setting."""
    return _identity(_BY_NAME[PAGE], ocr=False, option="")


@cache
def parsers_revision() -> str:
    """Return a digest of the revisions of all parsers, without the versions of their packages."""
    revisions = sorted(f"{parser.name}/{parser.revision}" for parser in PARSERS)
    return sha256("+".join(revisions).encode()).hexdigest()[:12]


def _option(parser: Parser, settings: ParsingSettings) -> str:
    """Return the part of a parser's identity that a setting adds, "" where the setting has its default."""
    if parser.name == "source record":
        return parsers_revision()  # the parser of its text may be any of them
    if parser.name == "docling":
        return f"models-{settings.models}" if settings.models else ""
    if parser.function == _DATA and settings.records != "auto" and parser.name != "toml":
        return f"records-{settings.records}"
    found: list[str] = [settings.html] if parser.name == "html" and settings.html not in {"auto", SAVED_PAGE} else []
    if parser.uses_ocr and settings.ocr and settings.ocr_languages:
        found.append(f"tesserocr-{package_version('tesserocr')}-{'-'.join(settings.ocr_languages)}")
    if parser.uses_ocr and settings.ocr and settings.pictures != "auto" and parser.name != "image":
        found.append(f"pictures-{settings.pictures}")
    return "+".join(found)


@cache
def _identity(parser: Parser, *, ocr: bool, option: str) -> str:
    packages: Sequence[str] = (
        *parser.packages,
        *(("py3langid",) if parser.detects_language else ()),
        *(_RECOGNITION if parser.uses_ocr and ocr else ()),
    )
    versions = [f"{package}-{package_version(package)}" for package in packages]
    return "+".join([f"{parser.name}/{parser.revision}", *versions, *([option] if option else [])])
