"""PDF files: the layout of their text layer, and OCR of pages without one."""

from collections.abc import Mapping, Sequence

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import Attachment, Block, JsonValue, ParsedDocument
from sourcebook.model.left_out import LeftOutKind, with_left_out
from sourcebook.parsing.attached_files import attachments_line, attachments_of
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.pdf.attachments import PdfFiles, is_portfolio
from sourcebook.parsing.pdf.damaged_streams import damaged_streams
from sourcebook.parsing.pdf.document_information import read_information
from sourcebook.parsing.pdf.pictures.page_pictures import with_picture_marks
from sourcebook.parsing.pdf.readable_pages import readable_pages
from sourcebook.parsing.pdf.text_pages import TextPage, read_pages
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.titles import document_title, is_title

_FILE_ENDINGS = (".doc", ".docx", ".indd", ".tex", ".ppt", ".pptx", ".qxd", ".xls", ".xlsx", ".odt")


def parse_pdf(content: bytes, *, settings: ParsingSettings) -> ParsedDocument:
    """Parse a PDF page by page into blocks with page and box.

    Args:
        content: the whole file.
        settings: `ocr` turns on OCR of pages without a usable text layer; without it these pages are left out, and
            their numbers are in the metadata as `unread_pages`.

    Raises:
        ParseError: the file needs a password, is damaged so that nothing can be read, or has no pages.
    """
    from sourcebook.parsing.docling.markdown_serializer import write_markdown
    from sourcebook.parsing.pdf.layout.build_document import build_document
    from sourcebook.parsing.pdf.layout.lines.running_heads import without_running_heads
    from sourcebook.parsing.pdf.layout.reading_size import at_reading_size, in_points

    properties = read_information(content)
    if properties.page_count == 0:
        raise ParseError(
            "the PDF has no pages; it was cut off or written wrongly, so save it again", FailureClass.EMPTY
        )
    found = list(read_pages(content))
    readable = readable_pages(content, found, ocr=settings.ocr, languages=settings.ocr_languages)
    pages, unit = at_reading_size(readable.pages)
    body = without_running_heads(pages, properties.metadata)
    written = write_markdown(build_document(body.pages, outline=properties.outline, heads=body.kept), boxes=True)
    left_out: dict[LeftOutKind, int] = {"unseen_words": sum(one.unseen for one in found)}
    attachments, left_out["attachments"] = _attachments(content, found, has_files=properties.has_files)
    joined, shows_pages = JoinedBlocks(), False
    xfa = None if any(one.page.fields for one in found) else properties.xfa
    if attachments and properties.page_count == 1 and is_portfolio(content):
        left_out["unseen_words"] += len(written.markdown.split())  # viewers show the list of files and not this cover
    elif xfa is None or not xfa.replaces_pages:
        joined.add_blocks(written.markdown.rstrip("\n"), in_points(written.blocks, unit))
        shows_pages = True
    more = [] if xfa is None else [*xfa.lines]
    if attachments or left_out["attachments"]:
        more.append(attachments_line(attachments, left_out["attachments"]))
    for line in more:
        joined.add_blocks(line, [Block("paragraph", 0, len(line), page=1)])
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    empty = not markdown.strip()
    if empty and (
        any(one.layer == "unreadable" for one in found) or (settings.ocr and "unread_pages" in readable.metadata)
    ):
        raise ParseError(
            "the PDF's pages are damaged; open it in a viewer and print it to a new PDF", FailureClass.CORRUPT
        )
    beyond = sum(one.beyond for one in found if one.page.number in readable.by_text)
    points = sum(sum(one.points.values()) for one in found if one.page.number in readable.by_text)
    title, language = _title(properties.metadata, blocks, markdown), detect_language(markdown, blocks)
    if shows_pages:
        pictures = {one.page.number: one.pictures for one in found if one.page.number in readable.by_text}
        markdown, blocks = with_picture_marks(markdown, blocks, pictures, content, settings)
    metadata = {key: value for key, value in properties.metadata.items() if key != "title"}
    if damaged := damaged_streams(content):
        metadata["damaged_streams"] = damaged
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=title,
        page_count=properties.page_count,
        language=language,
        metadata=with_left_out(
            {**metadata, **readable.metadata, **body.left_out.metadata()},
            {**left_out, "plot_points": points, "words_beyond_page": beyond},
        ),
        attachments=attachments,
        nothing_to_read=_why_empty(found, ocr=settings.ocr) if empty else None,
    )


def _attachments(content: bytes, found: Sequence[TextPage], *, has_files: bool) -> tuple[tuple[Attachment, ...], int]:
    """Return the attachments of a PDF, and the number of those that are not read."""
    pages = [one.page.number for one in found if one.has_files or one.layer == "unreadable"]
    if not has_files and not pages:
        return (), 0
    files = PdfFiles(content, pages)
    return tuple(attachments_of(files, set())), files.unread


def _why_empty(found: Sequence[TextPage], *, ocr: bool) -> str:
    layers = {one.layer for one in found}
    if layers <= {"blank", "usable"}:
        return "its pages are blank"
    if ocr:
        return "no text was recognised on its pages"
    if "garbage" in layers:
        return "its fonts do not say which letters they show and OCR is off: set parsing.ocr to true"
    return "the PDF is scanned and OCR is off: set parsing.ocr to true"


def _title(metadata: Mapping[str, JsonValue], blocks: Sequence[Block], markdown: str) -> str | None:
    """Return the title property unless that is a file name or a program's placeholder, else the first heading."""
    title = metadata.get("title")
    if isinstance(title, str) and " " in title and is_title(title) and not title.lower().endswith(_FILE_ENDINGS):
        return title
    return document_title(blocks, markdown)
