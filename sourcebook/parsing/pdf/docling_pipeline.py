"""PDF files through docling's own pipeline, whose models find layout and tables."""

from __future__ import annotations

import logging
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, MissingDependencyError, ParseError, ParserError
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.model.left_out import with_left_out

if TYPE_CHECKING:
    from docling.datamodel.document import ConversionResult
    from docling.datamodel.pipeline_options import RapidOcrOptions
    from docling.document_converter import DocumentConverter

_INSTALL = "pip install docling"
_WITHOUT = "or take  parser: sourcebook, which needs no models"
_PACKAGES = ("docling_ibm_models", "torch", "torchvision", "transformers")


def parse_with_models(content: bytes, *, name: str, settings: ParsingSettings) -> ParsedDocument:
    """Parse a PDF into blocks with page and box. The models are loaded once per process.

    Args:
        content: the whole file.
        name: file name, path or URI.
        settings: `models` is the folder that `docling-tools models download` fills; with None, docling takes its
            models from the hub's cache, or downloads them unless HF_HUB_OFFLINE is 1. `ocr` turns on OCR of pages
            without text.

    Raises:
        ParseError: the file is protected or damaged, or holds no text.
        MissingDependencyError: docling is not installed with what its models need.
        ParserError: the models cannot be found or loaded.
    """
    from sourcebook.parsing.pdf.document_information import read_information

    properties = read_information(content)
    require_packages()
    converter = load_converter(settings.models, ocr=settings.ocr)
    result = _convert(converter, content, name)

    from sourcebook.parsing.attached_files import attachments_of
    from sourcebook.parsing.docling.markdown_serializer import write_markdown
    from sourcebook.parsing.language import detect_language
    from sourcebook.parsing.pdf.attachments import PdfFiles
    from sourcebook.parsing.text.titles import document_title

    written = write_markdown(result.document, boxes=True)
    files = PdfFiles(content)
    attachments = tuple(attachments_of(files, set()))
    metadata = {key: value for key, value in properties.metadata.items() if key != "title"}
    title = properties.metadata.get("title")
    return ParsedDocument(
        markdown=written.markdown,
        blocks=written.blocks,
        title=title if isinstance(title, str) and " " in title else document_title(written.blocks),
        page_count=properties.page_count,
        language=detect_language(written.markdown, written.blocks),
        metadata=with_left_out({**metadata, **_page_facts(result)}, {"attachments": files.unread}),
        attachments=attachments,
        nothing_to_read=None if written.blocks else _why_empty(ocr=settings.ocr),
    )


def require_packages() -> None:
    """Check that the packages of the models are installed; nothing is imported.

    Raises:
        MissingDependencyError: a package is not installed.
    """
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if missing:
        names = ", ".join(package.replace("_", "-") for package in missing)
        raise MissingDependencyError(f"parser: docling needs the package {names}; {_INSTALL}, {_WITHOUT}")


@lru_cache(maxsize=1)
def load_converter(models: str | None, *, ocr: bool) -> DocumentConverter:
    """Load docling's models once per process, which takes seconds and a gigabyte of memory.

    Raises:
        MissingDependencyError: a package is not installed.
        ParserError: the models are missing, incomplete, or incompatible with the installed packages.
    """
    folder = None if models is None else Path(models).expanduser()
    if folder is not None and not folder.is_dir():
        raise ParserError(f"parsing.models is {folder}, which is no folder; {_fetching(folder)}, {_WITHOUT}")
    logging.getLogger("docling").setLevel(logging.ERROR)
    try:
        from docling.datamodel.base_models import InputFormat
        from docling.datamodel.pipeline_options import PdfPipelineOptions
        from docling.document_converter import DocumentConverter, PdfFormatOption
        from transformers.utils.logging import disable_progress_bar

        if find_spec("torchvision") is not None:
            import_module("torchvision")  # transformers would hide the reason of a failed import

        options = PdfPipelineOptions(artifacts_path=folder, do_ocr=ocr, do_table_structure=True)
        if ocr:
            options.ocr_options = _bundled_ocr()
        converter = DocumentConverter(
            allowed_formats=[InputFormat.PDF],
            format_options={InputFormat.PDF: PdfFormatOption(pipeline_options=options)},
        )
        disable_progress_bar()
        converter.initialize_pipeline(InputFormat.PDF)
    except ImportError as error:
        raise MissingDependencyError(f"parser: docling needs {error.name or error}; {_INSTALL}, {_WITHOUT}") from error
    except Exception as error:  # a model library may raise anything while it loads
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)[:300]
        raise ParserError(
            f"docling's models cannot be loaded ({reason}); {_remedy(reason, folder)}, {_WITHOUT}"
        ) from error
    return converter


def _remedy(reason: str, folder: Path | None) -> str:
    if "torchvision::" in reason:
        return "install torch and torchvision of one build, both for a CPU or both for CUDA"
    if "memory" in reason.lower():
        return "raise parsing.memory"
    return _fetching(folder)


def _fetching(folder: Path | None) -> str:
    if folder is None:
        return "run  docling-tools models download  where a hub is in reach, and name the folder in parsing.models"
    return f"run  docling-tools models download -o {folder}"


def _bundled_ocr() -> RapidOcrOptions:
    """Return OCR options with the weights in RapidOCR's wheel; docling would look for copies in its own folder."""
    from docling.datamodel.pipeline_options import RapidOcrOptions

    spec = find_spec("rapidocr")
    if spec is None or spec.origin is None:
        raise ImportError(name="rapidocr")
    weights = Path(spec.origin).parent / "models"
    found = {part: next(iter(sorted(weights.glob(f"*_{part}_*.onnx"))), None) for part in ("det", "cls", "rec")}
    missing = [part for part, path in found.items() if path is None]
    if missing:
        raise FileNotFoundError(f"RapidOCR's package holds no weights for {', '.join(missing)}")
    paths = {f"{part}_model_path": str(path) for part, path in found.items()}
    return RapidOcrOptions.model_validate({**paths, "rapidocr_params": {"Global.log_level": "critical"}})


def _convert(converter: DocumentConverter, content: bytes, name: str) -> ConversionResult:
    from docling.datamodel.base_models import ConversionStatus, DocumentStream

    last = name.replace("\\", "/").rsplit("/", 1)[-1]  # docling would open a path or a URI
    stream = DocumentStream(name=last if last.lower().endswith(".pdf") else "document.pdf", stream=BytesIO(content))
    result = converter.convert(stream, raises_on_error=False)
    if result.status not in {ConversionStatus.SUCCESS, ConversionStatus.PARTIAL_SUCCESS}:
        reasons = dict.fromkeys(" ".join(error.error_message.split())[:200] for error in result.errors)
        reason = "; ".join(reasons) or result.status.value
        raise ParseError(
            f"docling cannot read the PDF ({reason}); open it in a viewer and print it to a new PDF",
            FailureClass.CORRUPT,
        )
    return result


def _why_empty(*, ocr: bool) -> str:
    return (
        "no text was recognised on its pages"
        if ocr
        else "the PDF holds no text and OCR is off: set parsing.ocr to true"
    )


def _page_facts(result: ConversionResult) -> dict[str, JsonValue]:
    """Return the numbers of recognised pages, their confidence (0 to 1), and the numbers of unreadable pages."""
    scores = {number: float(page.ocr_score) for number, page in sorted(result.confidence.pages.items())}
    confidence: dict[str, JsonValue] = {
        str(number): round(score, 3) for number, score in scores.items() if not isnan(score)
    }
    unread: list[JsonValue] = [*sorted({error.page_no for error in result.errors if error.page_no is not None})]
    facts: dict[str, JsonValue] = {}
    if confidence:
        facts |= {"recognised_pages": [int(number) for number in confidence], "recognition_confidence": confidence}
    if unread:
        facts["unread_pages"] = unread
    return facts
