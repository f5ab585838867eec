"""A passage of a presentation names the slide that it quotes."""

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.chunker import chunk_document
from sourcebook.model.document import Block, ParsedDocument
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer
from tests.unit.chunking.promises import assert_promises


def passages(*slides: tuple[str, str], level: int = 1) -> list[Chunk]:
    """Return the passages of slides, each given by its title and its text."""
    text, blocks = "", []
    for page, (title, content) in enumerate(slides, start=1):
        heading = f"{'#' * level} {title}"
        blocks.append(Block("heading", len(text), len(text) + len(heading), level=level, title=title, page=page))
        text += f"{heading}\n\n"
        if content:
            blocks.append(Block("paragraph", len(text), len(text) + len(content), page=page))
            text += f"{content}\n\n"
    document = ParsedDocument(markdown=text, blocks=tuple(blocks))
    found = chunk_document(document, title=None, tokens=256, overlap=0, tokenizer=bundled_tokenizer())
    assert_promises(document, found, tokens=256)
    return found


def test_small_slides_have_passages_of_their_own() -> None:
    """Five slides of a few words are five passages, each with its own number."""
    found = passages(*((f"Topic {number}", f"point {number}") for number in range(1, 6)))
    assert [(chunk.page, chunk.heading_path) for chunk in found] == [(n, (f"Topic {n}",)) for n in range(1, 6)]


def test_a_slide_of_a_title_alone_joins_the_next() -> None:
    """The passage names the slide that says something."""
    found = passages(("Our year", ""), ("Meadows", "more orchids"), ("Thank you", ""))
    assert [(chunk.page, chunk.text.count("#")) for chunk in found] == [(2, 3)]


def test_small_sections_of_pages_still_join() -> None:
    """Sections below the first level may share a passage across pages, as in reports."""
    assert len(passages(*((f"Topic {number}", f"point {number}") for number in range(1, 6)), level=2)) == 1
