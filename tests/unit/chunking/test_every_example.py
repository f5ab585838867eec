"""Every passage of every real document at hand keeps what passages promise."""

from pathlib import Path

import pytest

from sourcebook.chunking.chunker import chunk_document
from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import MissingDependencyError, ParseError
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from sourcebook.parsing.registry import parser_for
from tests.checkout import CHECKOUT, EXAMPLES, SHARED_DATA
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer
from tests.unit.chunking.promises import assert_promises

SHARED = SHARED_DATA / "documents"
EXAMPLE_FILES = sorted(
    path for part in ("library", "site", "sources") for path in (EXAMPLES / part).rglob("*") if path.is_file()
)
DOCUMENTS = sorted(path for path in SHARED.rglob("*") if path.is_file() and ".expected" not in path.name)
OWN_CODE = sorted((CHECKOUT / "sourcebook" / "chunking").glob("*.py"))


def check(path: Path, *, tokens: int, overlap: int) -> None:
    content = path.read_bytes()
    media_type = detect_media_type(path.name, content[:4096])
    if parser_for(media_type) is None:
        pytest.skip(f"{media_type} is not read as a document")
    try:
        document = parse(content, name=path.name, media_type=media_type, settings=ParsingSettings(ocr=False))
    except (ParseError, MissingDependencyError) as error:
        pytest.skip(f"it cannot be read: {error}")
    chunks = chunk_document(
        document, title=document.title, tokens=tokens, overlap=overlap, tokenizer=bundled_tokenizer()
    )
    assert bool(chunks) == bool(document.markdown.strip())
    assert_promises(document, chunks, tokens=tokens)


@pytest.mark.parametrize("path", EXAMPLE_FILES + OWN_CODE, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_passages_of_the_examples(path: Path) -> None:
    """Place, repeated context, coverage, token count; no heading alone; with the default settings."""
    check(path, tokens=256, overlap=0)


@pytest.mark.skipif(not DOCUMENTS, reason=f"the shared documents are not at {SHARED}")
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(SHARED)))
def test_passages_of_the_shared_documents(path: Path) -> None:
    """The same of PDF, Office and web documents, in smaller passages that overlap."""
    check(path, tokens=128, overlap=16)
