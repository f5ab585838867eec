"""The one entry to all parsers."""

import warnings
from dataclasses import replace
from functools import partial

from sourcebook.errors import MissingDependencyError, ParseError
from sourcebook.parsing.extensions import CODE_LANGUAGES, extension_of
from sourcebook.parsing.registry import ParserName, parser_for, skip_reason
from sourcebook.parsing.types import ParsedDocument


def parse(content: bytes, *, name: str, media_type: str) -> ParsedDocument:
    """Turn a file's bytes into Markdown and its blocks.

    An empty file, or one of white space only, gives a document without blocks.

    Args:
        content: The whole file.
        name: File name, path or URI; its ending refines the media type (the kind of code).
        media_type: As `detect_media_type` tells it.

    Raises:
        ParseError: No parser reads this type, or the content is broken, protected, or holds no text.
        MissingDependencyError: The parser's package is not installed.
    """
    parser = parser_for(media_type)
    if not content.strip():
        return ParsedDocument(markdown="", blocks=())
    if parser is None:
        raise ParseError(skip_reason(media_type))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parsing libraries warn about odd files and about their own future
            document = _run(parser.name, content, media_type=media_type, name=name)
            return document if document.markdown.strip() else replace(document, markdown="")
    except (ParseError, MissingDependencyError):
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
    except MemoryError as error:
        raise ParseError("it needs more memory than there is; split it into smaller files") from error
    except Exception as error:  # a parsing library may raise anything on a broken file
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ParseError(
            f"the {parser.name} parser cannot read it ({reason}); open and save it again, or convert it"
        ) from error


def _run(parser: ParserName, content: bytes, *, media_type: str, name: str) -> ParsedDocument:
    """Each parser is imported when the first file needs it: docling alone takes seconds."""
    match parser:
        case "markdown":
            from sourcebook.parsing.markdown import parse_markdown

            return parse_markdown(content)
        case "text":
            from sourcebook.parsing.plain_text import parse_plain_text

            return parse_plain_text(content)
        case "csv":
            from sourcebook.parsing.comma_separated import parse_csv

            return parse_csv(content)
        case "pdf":
            from sourcebook.parsing.pdf import parse_pdf

            return parse_pdf(content)
        case "html":
            from sourcebook.parsing.html import parse_html

            return parse_html(content, name=name)
        case "docx" | "pptx" | "xlsx":
            from sourcebook.parsing.office import parse_office

            return parse_office(content, name=name, office_format=parser)
        case _:
            return _run_fenced(parser, content, media_type=media_type, name=name)


def _run_fenced(parser: ParserName, content: bytes, *, media_type: str, name: str) -> ParsedDocument:
    from sourcebook.parsing.fenced import parse_fenced
    from sourcebook.parsing.json_cuts import json_cuts, line_cuts
    from sourcebook.parsing.line_patterns import code_cuts, toml_cuts, yaml_cuts
    from sourcebook.parsing.python_cuts import python_cuts

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
            cuts = python_cuts if language == "python" else code_cuts
            return parse_fenced(content, language=language, kind="code", cuts=cuts)


def _code_language(media_type: str, name: str) -> str:
    language = media_type.removeprefix("text/x-")
    return language if language in CODE_LANGUAGES else extension_of(name)
