"""Pictures of text: scans, photographs of pages, screenshots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.pdf.layout.page_parts import Page
from sourcebook.parsing.pdf.pictures.frames import frame_count, frames, open_picture
from sourcebook.parsing.pdf.pictures.picture_metadata import read_picture_metadata, resolution
from sourcebook.parsing.text.titles import document_title

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

_POINTS_PER_INCH = 72
_OFF = "it is a picture and OCR is off: set parsing.ocr to true"
_EMPTY = "no text is seen in the picture"
_UNREADABLE = (
    "what is written in the picture cannot be read: OCR knows Latin, Chinese and Japanese letters, and others where "
    "parsing.ocr_languages names them"
)


def parse_image(content: bytes, *, settings: ParsingSettings) -> ParsedDocument:
    """Read the text in a PNG, JPEG, TIFF, GIF, WebP, BMP, AVIF or HEIC file; each frame of a TIFF is a page.

    The boxes of blocks are in points of the upright page; a picture without a resolution has 72 pixels per inch.

    Args:
        content: the whole file.
        settings: `ocr` turns on OCR; without it only the metadata is read.

    Raises:
        ParseError: the picture is damaged, cut off, of another kind, or has more than 100 million pixels.
        MissingDependencyError: rapidOCR is installed without its models.
    """
    with open_picture(content) as picture:
        properties = read_picture_metadata(picture)
        title = properties.pop("title", None)
        count = frame_count(picture)
        if not settings.ocr:
            return ParsedDocument("", (), page_count=count, metadata=properties, nothing_to_read=_OFF)
        recognised = _recognise(picture, settings.ocr_languages)

    from sourcebook.parsing.docling.markdown_serializer import write_markdown
    from sourcebook.parsing.pdf.layout.build_document import build_document
    from sourcebook.parsing.pdf.layout.lines.running_heads import without_running_heads

    body = without_running_heads(recognised.pages)
    written = write_markdown(build_document(body.pages, heads=body.kept), boxes=True)
    reason = _UNREADABLE if recognised.unread else _EMPTY
    return ParsedDocument(
        markdown=written.markdown,
        blocks=written.blocks,
        title=title if isinstance(title, str) else document_title(written.blocks),
        page_count=count,
        language=detect_language(written.markdown, written.blocks),
        metadata=properties | recognised.metadata | body.left_out.metadata(),
        nothing_to_read=None if written.markdown.strip() else reason,
    )


@dataclass(slots=True)
class _Recognised:
    pages: list[Page] = field(default_factory=list)
    confidence: dict[str, JsonValue] = field(default_factory=dict)
    """Confidence (0 to 1) of each page with text, by page number."""
    unread: int = 0

    @property
    def metadata(self) -> dict[str, JsonValue]:
        """Numbers of the recognised pages and their confidence (0 to 1)."""
        facts: dict[str, JsonValue] = {"recognised_pages": [page.number for page in self.pages]}
        return facts | ({"recognition_confidence": self.confidence} if self.confidence else {})


def _recognise(picture: ImageFile, languages: tuple[str, ...]) -> _Recognised:
    from sourcebook.parsing.pdf.ocr.recognise import recognise
    from sourcebook.parsing.pdf.ocr.recognised_page import layout_page

    found = _Recognised()
    for number, (frame, shrunk) in enumerate(frames(picture), start=1):
        page = recognise(frame, languages)
        points_per_pixel = shrunk * _POINTS_PER_INCH / (resolution(picture) or _POINTS_PER_INCH)
        found.pages.append(layout_page(page, number=number, points_per_pixel=points_per_pixel))
        found.unread += page.unread
        if page.confidence is not None:
            found.confidence[str(number)] = round(page.confidence, 3)
    return found
