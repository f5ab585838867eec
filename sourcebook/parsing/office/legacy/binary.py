"""Documents (.doc) and presentations (.ppt) of the old binary formats, read by anydoc."""

import re
from collections.abc import Sequence
from typing import Final, Literal

import anydoc

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import Block, ParsedDocument
from sourcebook.model.media_types import DOC, PPT
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.office.legacy.excel import ole_properties
from sourcebook.parsing.office.legacy.powerpoint_97_slides import with_slides
from sourcebook.parsing.office.legacy.word_97_changes import shown_document
from sourcebook.parsing.office.legacy.word_97_parts import OtherParts, parts_beside
from sourcebook.parsing.office.legacy.word_97_raised import with_raised_text
from sourcebook.parsing.office.legacy.word_before_97 import text_before_97
from sourcebook.parsing.office.legacy.word_pieces import word_streams
from sourcebook.parsing.text.joined_blocks import JoinedBlocks
from sourcebook.parsing.text.left_out import left_out_of
from sourcebook.parsing.text.markdown import markdown_blocks
from sourcebook.parsing.text.picture_marks import count_embedded_pictures
from sourcebook.parsing.text.titles import document_title

_ENDINGS: Final[dict[str, Literal["doc", "ppt"]]] = {DOC: "doc", PPT: "ppt"}
_BREAK_IN_CELL: Final = re.compile(r"(?<!\\)<br>(?=.*\|$)", re.MULTILINE)
_EMPTY_HEADER: Final = re.compile(r"^\|(?: *\|)+\n(\|(?: -+ \|)+\n)(\|.*\n)", re.MULTILINE)
"""Header that anydoc gives a table without one; the first row is taken for it, as of every other table."""
_SLIDE_NUMBER: Final = re.compile(r"^>\n> \\\*\n", re.MULTILINE)
"""Paragraph of a slide's notes that shows the slide's number."""
_PANIC: Final = "PanicException"
"""Name of the error, no `Exception`, that a fault of anydoc's compiled code raises."""


def parse_binary(content: bytes, *, media_type: str) -> ParsedDocument:
    """Parse a document or presentation: headings, lists, tables, links, notes; the titles of slides are headings.

    Documents from before Word 97 are paragraphs only.

    Args:
        content: the whole file.
        media_type: that of a document or of a presentation.

    Raises:
        ParseError: the file is damaged, protected or too large.
    """
    ending = _ENDINGS[media_type]
    old = text_before_97(content) if ending == "doc" else None
    if old is None:
        content, hidden = shown_document(content) if ending == "doc" else (content, [])
        text = _markdown(content, ending)
        parts = parts_beside(content, text) if ending == "doc" else OtherParts()
        text = "\n\n".join([text.rstrip(), *parts.kept]) + "\n" if parts.kept else text
        text = with_raised_text(content, text) if ending == "doc" else text
        blocks = tuple(markdown_blocks(text))
        left_out = left_out_of([*parts.headers, *hidden], kept=len(text))
    else:
        text, blocks = _paragraphs(old.paragraphs)
        left_out = left_out_of(old.headers, kept=len(text))
    if not text.strip() and ending == "ppt" and _is_before_97(content):
        raise ParseError(
            f"it was written by PowerPoint 95 or an older one; open it in LibreOffice and save it as .{ending}x",
            FailureClass.UNSUPPORTED,
        )
    count_embedded_pictures(content)
    slides = None
    if ending == "ppt":
        blocks, slides = with_slides(content, text, blocks)
    properties = ole_properties(content)
    title = properties.pop("title", None)
    return ParsedDocument(
        markdown=text,
        blocks=blocks,
        title=title if isinstance(title, str) else document_title(blocks, text),
        page_count=slides,
        language=detect_language(text, blocks),
        metadata=properties | left_out.metadata(),
        nothing_to_read=None if text.strip() else "it has no text",
    )


def _is_before_97(content: bytes) -> bool:
    """Tell whether a presentation begins with no container of records, as those of PowerPoint 97 and later do."""
    (stream,) = word_streams(content, "PowerPoint Document")
    return len(stream) > 1 and stream[0] & 0x0F != 0x0F


def _paragraphs(texts: Sequence[str]) -> tuple[str, tuple[Block, ...]]:
    joined = JoinedBlocks()
    for text in texts:
        joined.add(text, "paragraph")
    return joined.markdown(), tuple(joined.blocks)


def _markdown(content: bytes, ending: Literal["doc", "ppt"]) -> str:
    damaged = f"the file is damaged or cut off; open it in its program or in LibreOffice and save it as .{ending}x"
    try:
        text = _BREAK_IN_CELL.sub(" ", anydoc.to_markdown_bytes(content, ending))
    except anydoc.EncryptedError as error:
        raise ParseError("it is protected by a password; save a copy without one", FailureClass.PASSWORD) from error
    except anydoc.ResourceLimitError as error:
        raise ParseError(f"it is too large or too deeply nested ({error}); split it", FailureClass.TOO_LARGE) from error
    except anydoc.ConvertError as error:
        raise ParseError(damaged, FailureClass.CORRUPT) from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise ParseError(damaged, FailureClass.CORRUPT) from error
    return _SLIDE_NUMBER.sub("", _EMPTY_HEADER.sub(r"\2\1", text))
