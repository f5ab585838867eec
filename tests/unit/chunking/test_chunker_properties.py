"""What holds for the passages of any document."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.chunker import chunk_document
from sourcebook.parsing.markdown import parse_markdown
from sourcebook.parsing.types import ParsedDocument

from .bundled_tokenizer import bundled_tokenizer

words = st.text(alphabet=st.sampled_from("abcdefghij .,!?-_ äßñЖ日本😄\u0301"), min_size=1, max_size=80)
pieces = st.one_of(
    st.builds(lambda level, text: f"{'#' * level} {text}", st.integers(1, 6), words),
    st.builds(lambda text, times: (text + " ") * times, words, st.integers(1, 30)),
    st.builds(lambda text, times: f"- {text}\n  - inner\n" * times, words, st.integers(1, 20)),
    st.builds(lambda text, times: "| a | b |\n|---|---|\n" + f"| {text} | x |\n" * times, words, st.integers(1, 20)),
    st.builds(lambda text, times: "```\n" + f"    {text}\n" * times + "```", words, st.integers(1, 20)),
    st.builds(lambda text, times: f"> {text}\n" * times, words, st.integers(1, 10)),
    st.builds(lambda letter, times: letter * times, st.sampled_from("xÄ日😄[#>"), st.integers(1, 2_000)),
    st.text(max_size=60),
)
markdown = st.lists(pieces, max_size=10).map("\n\n".join)


def chunked(document: ParsedDocument, *, title: str | None, tokens: int, overlap: int) -> list[Chunk]:
    return chunk_document(document, title=title, tokens=tokens, overlap=overlap, tokenizer=bundled_tokenizer())


@settings(max_examples=150, deadline=None)
@given(markdown, st.none() | words, st.integers(16, 300), st.integers(0, 40))
def test_spans_are_exact_ordered_complete_and_short_enough(
    source: str, title: str | None, tokens: int, overlap: int
) -> None:
    """Text is the span; spans advance, cover all that is not white space, and token counts are true and in bounds."""
    document = parse_markdown(source.encode("utf-8", "ignore"))
    found = chunked(document, title=title, tokens=tokens, overlap=overlap)
    text = document.markdown
    reached = document.blocks[0].start if document.blocks else len(text)
    previous = -1
    for ordinal, chunk in enumerate(found):
        assert chunk.ordinal == ordinal
        assert chunk.text == text[chunk.start_char : chunk.end_char]
        assert chunk.text.strip()
        assert chunk.start_char > previous
        assert not text[reached : chunk.start_char].strip()
        assert overlap or chunk.start_char >= reached
        assert chunk.embedding_text.endswith(chunk.text)
        assert chunk.token_count <= min(tokens, 256)
        previous, reached = chunk.start_char, max(reached, chunk.end_char)
    assert not text[reached:].strip()
    assert bundled_tokenizer().count([chunk.embedding_text for chunk in found]) == [c.token_count for c in found]


@settings(max_examples=40, deadline=None)
@given(markdown)
def test_the_same_document_gives_the_same_passages(source: str) -> None:
    """Chunking depends on nothing but its arguments."""
    document = parse_markdown(source.encode("utf-8", "ignore"))
    first = chunked(document, title="T", tokens=64, overlap=8)
    assert first == chunked(document, title="T", tokens=64, overlap=8)
    assert [chunk.hash for chunk in first] == [
        chunk.hash for chunk in chunked(document, title="T", tokens=64, overlap=8)
    ]
