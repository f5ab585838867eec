"""Checks of the parsers: each converts one real file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING

from sourcebook.admin.doctor.check import Check, fail, ok, warn
from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import MissingDependencyError, ParseError, ParserError
from sourcebook.installation import install_command
from sourcebook.model.media_types import DOCX, PDF

if TYPE_CHECKING:
    from sourcebook.config.loading import Configuration
    from sourcebook.parsing.parser_pool import ParserPool

SENTENCE = "A sentence to be read."
_OFFLINE = "HF_HUB_OFFLINE"


def check_parsing(configuration: Configuration | None) -> list[Check]:
    """Convert a PDF file, a Word file and a picture; the PDF file also with docling where its models are available.

    This takes seconds: parsers are loaded in child processes, as in an ingest. Nothing is downloaded.
    """
    settings = [each.parsing for each in configuration.collections.values()] if configuration else []
    with_models = list(dict.fromkeys(each.models for each in settings if each.parser == "docling"))
    try:
        from sourcebook.parsing.parser_pool import ParserPool
    except ImportError as error:
        return [
            warn("parsers", f"documents cannot be read: {error.name} is not installed", install_command("pipeline"))
        ]
    with _no_hub(), ParserPool(documents=2) as pool:
        return [
            _check("parser of PDF files", lambda: _converted(pool, _pdf(), "try.pdf", PDF, ParsingSettings())),
            _check("parser of office files", lambda: _converted(pool, _docx(), "try.docx", DOCX, ParsingSettings())),
            _check("OCR", lambda: _converted(pool, _png(), "try.png", "image/png", ParsingSettings())),
            *_check_docling(pool, with_models),
        ]


def _check(name: str, convert: Callable[[], str], *, needed: bool = True) -> Check:
    """Check one parser; `convert` returns the text of the converted file."""
    report = fail if needed else warn
    started = time.perf_counter()
    try:
        text = convert()
    except ImportError as error:
        return report(name, f"{error.name} is not installed", install_command("pipeline"))
    except (MissingDependencyError, ParseError, ParserError) as error:
        detail, _, remedy = str(error).partition("; ")
        return report(name, detail, remedy or install_command("pipeline", again=True))
    if SENTENCE not in text:
        return report(name, f"it read {text[:60]!r} in the test file", install_command("pipeline", again=True))
    return ok(name, f"one converted in {time.perf_counter() - started:.1f} s")


def _converted(pool: ParserPool, content: bytes, name: str, media_type: str, settings: ParsingSettings) -> str:
    return pool.start(content, name=name, media_type=media_type, settings=settings).result().markdown


def _check_docling(pool: ParserPool, with_models: Sequence[str | None]) -> Iterator[Check]:
    """Check docling with the models of each collection that uses it, or else with the installed models."""
    if not with_models and find_spec("docling_ibm_models") is None:
        detail = "docling is not installed with its models; only  parser: docling  needs them"
        yield warn("parser docling", detail, "pip install docling")
        return
    for models in with_models or [None]:
        settings = ParsingSettings(parser="docling", models=models, ocr=False)
        name = "parser docling" if models is None else f"parser docling, {models}"
        convert = partial(_converted, pool, _pdf(), "try.pdf", PDF, settings)
        yield _check(name, convert, needed=bool(with_models))


@contextmanager
def _no_hub() -> Iterator[None]:
    """Prevent child processes from downloading models."""
    before = os.environ.get(_OFFLINE)
    os.environ[_OFFLINE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_OFFLINE]
        else:
            os.environ[_OFFLINE] = before


def _pdf() -> bytes:
    """Return a PDF file of one page, with `SENTENCE` on it."""
    shown = f"BT /F1 12 Tf 72 700 Td ({SENTENCE}) Tj ET"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources 6 0 R >>",
        f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        "<< /Font << /F1 5 0 R >> >>",
    )
    content, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(content))
        content += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    ending = (
        f"xref\n0 6\n0000000000 65535 f \n{table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{len(content)}\n%%EOF\n"
    )
    return f"{content}{ending}".encode("ascii")


def _docx() -> bytes:
    """Return a Word file of one paragraph, `SENTENCE`."""
    import docx

    document = docx.Document()
    document.add_paragraph(SENTENCE)
    buffer = BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _png() -> bytes:
    """Return a picture with `SENTENCE` on it."""
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (480, 96), "white")
    ImageDraw.Draw(picture).text((30, 28), SENTENCE, fill="black", font=ImageFont.load_default(size=32))
    buffer = BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()
