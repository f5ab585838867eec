"""The one entry to all parsers."""

import warnings
from dataclasses import replace
from functools import partial

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import MissingDependencyError, ParseError, ParserError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import CODE_LANGUAGES, extension_of
from sourcebook.parsing.registry import ParserName, parser_for, skip_reason

_DEFAULT = ParsingSettings()
_OUT_OF_MEMORY = ("bad_alloc", "Failed to allocate memory", "Cannot allocate memory")


def parse(content: bytes, *, name: str, media_type: str, settings: ParsingSettings = _DEFAULT) -> ParsedDocument:
    """Turn a file's bytes into Markdown and its blocks.

    An empty file, or one of white space only, gives a document without blocks.

    Args:
        content: The whole file.
        name: File name, path or URI; its ending refines the media type (the kind of code).
        media_type: As `detect_media_type` tells it.
        settings: Which PDF parser, and whether pictures are recognised.

    Raises:
        ParseError: No parser reads this type, or the content is broken, protected, or holds no text.
        MissingDependencyError: The parser's package is not installed.
        ParserError: Its models cannot be loaded.
    """
    parser = parser_for(media_type, settings)
    if not content.strip():
        return ParsedDocument(markdown="", blocks=())
    if parser is None:
        raise ParseError(skip_reason(media_type))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parsing libraries warn about odd files and about their own future
            document = _run(parser.name, content, media_type=media_type, name=name, settings=settings)
            return document if document.markdown.strip() else replace(document, markdown="")
    except (ParseError, MissingDependencyError, ParserError):
        raise
    except ImportError as error:
        missing = error.name or str(error)
        raise MissingDependencyError(
            f"reading {media_type} needs the package {missing}; install sourcebook[parsing]",
        ) from error
    except RecursionError as error:
        raise ParseError(
            "its structure is nested too deeply to be read; simplify it, or save it as plain text"
        ) from error
    except Exception as error:  # a parsing library may raise anything on a broken file
        if ran_out_of_memory(error):
            raise ParseError(
                "it needs more memory than parsing.memory allows; raise that, or split the file"
            ) from error
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ParseError(
            f"the {parser.name} parser cannot read it ({reason}); open and save it again, or convert it"
        ) from error


def ran_out_of_memory(error: BaseException | None) -> bool:
    """Tell whether an error is one of memory: some libraries say so only in words."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _OUT_OF_MEMORY)


def _run(
    parser: ParserName, content: bytes, *, media_type: str, name: str, settings: ParsingSettings
) -> ParsedDocument:
    """Each parser is imported when the first file needs it: docling alone takes seconds."""
    match parser:
        case "markdown":
            from sourcebook.parsing.text.markdown import parse_markdown

            return parse_markdown(content)
        case "text":
            from sourcebook.parsing.text.plain_text import parse_plain_text

            return parse_plain_text(content)
        case "csv":
            from sourcebook.parsing.text.comma_separated import parse_csv

            return parse_csv(content)
        case "pdf":
            from sourcebook.parsing.pdf.read_pdf import parse_pdf

            return parse_pdf(content, ocr=settings.ocr)
        case "docling":
            from sourcebook.parsing.pdf.docling_pipeline import parse_with_models

            return parse_with_models(content, name=name, models=settings.models, ocr=settings.ocr)
        case "image":
            from sourcebook.parsing.pdf.pictures.read_picture import parse_image

            return parse_image(content, ocr=settings.ocr)
        case "html":
            from sourcebook.parsing.html.saved_page import parse_html

            return parse_html(content, name=name)
        case "asciidoc":
            from sourcebook.parsing.markup.asciidoc import parse_asciidoc

            return parse_asciidoc(content, name=name)
        case "latex":
            from sourcebook.parsing.markup.latex import parse_latex

            return parse_latex(content, name=name)
        case "epub":
            from sourcebook.parsing.epub import parse_epub

            return parse_epub(content, name=name)
        case "mail":
            from sourcebook.parsing.mail.read_mail import parse_mail

            return parse_mail(content, media_type=media_type)
        case "legacy":
            from sourcebook.parsing.office.legacy.read_legacy import parse_legacy

            return parse_legacy(content, name=name, media_type=media_type)
        case "docx" | "pptx" | "xlsx":
            from sourcebook.parsing.office.read_office import parse_office

            return parse_office(content, name=name, office_format=parser)
        case _:
            return _run_fenced(parser, content, media_type=media_type, name=name)


def _run_fenced(parser: ParserName, content: bytes, *, media_type: str, name: str) -> ParsedDocument:
    from sourcebook.parsing.text.code_cuts import code_cuts
    from sourcebook.parsing.text.fenced import parse_fenced
    from sourcebook.parsing.text.json_cuts import json_cuts, line_cuts
    from sourcebook.parsing.text.line_patterns import toml_cuts, yaml_cuts

    data = partial(parse_fenced, content, kind="data")
    match parser:
        case "json":
            return data(language="json", cuts=json_cuts)
        case "jsonl":
            return data(language="json", cuts=line_cuts)
        case "yaml":
            return data(language="yaml", cuts=yaml_cuts)
        case "toml":
            return data(language="toml", cuts=toml_cuts)
        case _:
            language = _code_language(media_type, name)
            return parse_fenced(content, language=language, kind="code", cuts=partial(code_cuts, language=language))


def _code_language(media_type: str, name: str) -> str:
    language = media_type.removeprefix("text/x-")
    return language if language in CODE_LANGUAGES else extension_of(name)
