"""Text in the pictures of documents: read by OCR where the pictures are the text, counted elsewhere."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import MissingDependencyError, ParseError
from sourcebook.model.document import Block, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.markdown import markdown_blocks
from sourcebook.parsing.text.picture_marks import (
    FEW_CHARACTERS,
    MARK,
    MOST_PIXELS_BESIDE,
    PIXELS_A_CHARACTER,
    without_marks,
)

if TYPE_CHECKING:
    from PIL.Image import Image

LABEL = "Text in a picture:"
_NEXT = "\n\n"
_SPACED = re.compile(rf" ?{MARK.pattern}")
_SHORTEST_SIDE, _FEWEST_PIXELS = 16, 8_000
"""Pixels below which a picture is an icon, and no text is sought in it."""
_SMALL, _LARGEST_SCALE, _MOST_READ = 500_000, 3, 3_000_000
"""Pixels to which OCR enlarges small pictures, and by how much at most; pixels to which it reduces large ones."""
_FEWEST_LETTERS = 4
"""Letters below which what was read is a logo, or no text."""
_BACKGROUND = 0.3
"""Share of a picture's pixels of about one brightness in print; photographs have less."""
_NOT_READ = "it holds pictures that are not read: set parsing.ocr to true and parsing.pictures to all"


@dataclass(frozen=True, slots=True)
class _Place:
    """A picture with a mark, and whether its slide or sheet has hardly any other text."""

    number: int
    pixels: int
    is_alone: bool = False


def with_picture_texts(
    document: ParsedDocument, pictures: Sequence[bytes | None], settings: ParsingSettings
) -> ParsedDocument:
    """Return a document with text in place of the marks of pictures, and the number of those that are not read.

    A picture is read where its document, slide or sheet has hardly any other text, and where that costs less than the
    document's own text did; with `pictures: all` always, for up to half of the time limit. Icons count for nothing.

    Args:
        document: with the marks of `picture_mark`.
        pictures: the pictures by their marks.
        settings: `ocr` and `pictures` choose what is read.
    """
    sizes = [_pixels(content) for content in pictures]
    shown = [number for number, pixels in enumerate(sizes) if pixels is None or pixels]
    texts: dict[int, str] = {}
    ends = time.process_time() + settings.timeout.total_seconds() / 2
    for place in _chosen(document, sizes, settings):
        if time.process_time() > ends:
            break
        if (text := _read(pictures[place.number] or b"", settings)) is not None:
            texts[place.number] = text
    unread = len(set(shown) - set(texts))
    is_read = bool(texts)
    markdown, blocks = _replaced(document, texts)
    return replace(
        document,
        markdown=markdown,
        blocks=blocks,
        title=without_marks(document.title).strip() or None if document.title else document.title,
        language=document.language or (detect_language(markdown, blocks) if is_read else None),
        metadata=with_left_out(document.metadata, {"pictures": unread}),
        nothing_to_read=document.nothing_to_read or (_NOT_READ if unread and not markdown.strip() else None),
    )


def _pixels(content: bytes | None) -> int | None:
    """Return how many pixels OCR looks at; 0 for an icon, None where the size cannot be told."""
    from sourcebook.parsing.pdf.pictures.frames import open_picture

    try:
        with open_picture(content or b"") as picture:
            width, height = picture.size
    except ParseError:
        return None
    pixels = width * height
    if min(width, height) < _SHORTEST_SIDE or pixels < _FEWEST_PIXELS:
        return 0
    return min(max(pixels, min(_LARGEST_SCALE**2 * pixels, _SMALL)), _MOST_READ)


def _chosen(document: ParsedDocument, sizes: Sequence[int | None], settings: ParsingSettings) -> Iterator[_Place]:
    """Yield the pictures that are to be read."""
    if not settings.ocr or settings.pictures == "none":
        return
    places = list(_places(document, sizes))
    characters = len(MARK.sub("", document.markdown))
    if settings.pictures == "all" or characters < FEW_CHARACTERS * len(places):
        yield from places
        return
    beside, alone = characters * PIXELS_A_CHARACTER, MOST_PIXELS_BESIDE
    for place in places:
        if place.is_alone and place.pixels <= alone:
            alone -= place.pixels
            yield place
        elif place.pixels <= beside:
            beside -= place.pixels
            yield place


def _places(document: ParsedDocument, sizes: Sequence[int | None]) -> Iterator[_Place]:
    """Yield the readable pictures of a document in their order, each once."""
    numbers: dict[int, int | None] = {}
    characters: Counter[int | None] = Counter()
    for block in document.blocks:
        text = document.markdown[block.start : block.end]
        found = (int(mark[1]) for mark in MARK.finditer(text))
        for number in found:
            if number < len(sizes) and sizes[number]:
                numbers.setdefault(number, block.page)
        characters[block.page] += 0 if block.kind == "heading" else len(without_marks(text))
    shown = Counter(numbers.values())
    for number, page in sorted(numbers.items()):
        is_alone = page is not None and characters[page] < FEW_CHARACTERS * shown[page]
        yield _Place(number, sizes[number] or 0, is_alone)


def _read(content: bytes, settings: ParsingSettings) -> str | None:
    """Return the text in a picture; "" where there is none, None where it cannot be read."""
    from sourcebook.parsing.pdf.pictures.read_picture import parse_image

    try:
        if settings.pictures == "auto" and _is_photograph(content):
            return None
        found = parse_image(content, settings=settings)
    except (ParseError, MissingDependencyError):
        return None
    if sum(map(str.isalnum, found.markdown)) < _FEWEST_LETTERS:
        return ""
    pieces = (
        block.title if block.kind == "heading" else found.markdown[block.start : block.end] for block in found.blocks
    )
    return "\n\n".join(piece.strip() for piece in pieces)


def _is_photograph(content: bytes) -> bool:
    """Tell whether a picture has no background of one brightness, as print and drawings have."""
    from sourcebook.parsing.pdf.pictures.frames import frames, open_picture

    with open_picture(content) as picture:
        image: Image
        image, _ = next(frames(picture))
        counts = image.convert("L").resize((256, 256)).histogram()
    return max(sum(counts[start : start + 24]) for start in range(0, 256 - 23, 8)) < _BACKGROUND * 256 * 256


def _replaced(document: ParsedDocument, texts: dict[int, str]) -> tuple[str, tuple[Block, ...]]:
    """Return the Markdown with each text, which is taken from `texts`, in place of its first mark, and the blocks."""
    pieces: list[str] = []
    blocks: list[Block] = []
    length = end = 0
    for block in document.blocks:
        gap, text = document.markdown[end : block.start], document.markdown[block.start : block.end]
        end = block.end
        new, inner = text, [replace(block, start=0, end=len(text))]
        if MARK.search(text) is not None:
            new, inner = _written(block, text, texts)
        if not inner:
            continue
        pieces += (gap, new)
        length += len(gap)
        blocks += [replace(each, start=length + each.start, end=length + each.end) for each in inner]
        length += len(new)
    return "".join((*pieces, document.markdown[end:])), tuple(blocks)


def _written(block: Block, text: str, texts: dict[int, str]) -> tuple[str, list[Block]]:
    """Return a block's text with those of its pictures, as blocks of their own where it has nothing else."""
    if without_marks(text).strip():
        written = _SPACED.sub(lambda mark: _inline(texts.pop(int(mark[1]), ""), block, mark), text).strip()
        title = " ".join(without_marks(block.title).split())
        return written, [replace(block, start=0, end=len(written), title=title)]
    found = [texts.pop(int(mark[1]), "") for mark in MARK.finditer(text)]
    written = "\n\n".join(f"*{LABEL}*{' ' if piece[0].isalnum() else _NEXT}{piece}" for piece in found if piece)
    return written, [replace(each, page=block.page) for each in markdown_blocks(written)]


def _inline(text: str, block: Block, mark: re.Match[str]) -> str:
    """Return a text as a remark in brackets, apart from the word before its mark."""
    words = " ".join(text.split())
    words = re.sub(r"(?<!\\)\|", r"\\|", words) if block.kind == "table" else words
    gap = "" if mark.string[: mark.start()][-1:] in {"", " ", "\n", "["} else " "
    return f"{gap}({LABEL.lower()} {words})" if words and block.kind != "heading" else ""
