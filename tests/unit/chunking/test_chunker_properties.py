"""What holds for the passages of any document."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.chunker import chunk_document
from sourcebook.config.collection import CONTEXT, ContextPart
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.parse import parse
from sourcebook.parsing.text.markdown import parse_markdown
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer
from tests.unit.chunking.promises import assert_promises, repeated_context

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


contexts = st.sampled_from((CONTEXT, (*CONTEXT, "previous"), ("previous",), ()))


def chunked(
    document: ParsedDocument,
    *,
    title: str | None,
    tokens: int,
    overlap: int,
    context: Sequence[ContextPart] = CONTEXT,
) -> list[Chunk]:
    return chunk_document(
        document, title=title, tokens=tokens, overlap=overlap, tokenizer=bundled_tokenizer(), context=context
    )


@settings(max_examples=150, deadline=None)
@given(markdown, st.none() | words, st.integers(16, 300), st.integers(0, 40), contexts)
def test_places_are_exact_ordered_complete_and_short_enough(
    source: str, title: str | None, tokens: int, overlap: int, context: Sequence[ContextPart]
) -> None:
    """Text is repeated context and the span; spans cover all that is not white space; no heading is left alone."""
    document = parse_markdown(source.encode("utf-8", "ignore"))
    found = chunked(document, title=title, tokens=tokens, overlap=overlap, context=context)
    assert_promises(document, found, tokens=tokens, share=8)
    reached = 0
    for chunk in found:
        assert overlap or chunk.start_char >= reached
        reached = chunk.end_char


sentences = st.integers(1, 60).map(lambda times: "The tide gauge is read at noon. " * times)
outlines = st.lists(
    st.one_of(
        st.builds(lambda level, number: f"{'#' * level} Part {number}", st.integers(1, 4), st.integers(0, 99)),
        sentences,
        st.builds(
            lambda text, times: f"{text}:\n\n" + "- read the gauge\n  - at noon\n" * times,
            sentences,
            st.integers(1, 60),
        ),
        st.builds(lambda times: "| hour | level |\n|---|---|\n" + "| noon | high tide |\n" * times, st.integers(0, 80)),
        st.builds(lambda times: "```python\n" + "read(gauge)\n\n" * times + "```", st.integers(1, 80)),
    ),
    max_size=12,
).map("\n\n".join)


@settings(max_examples=100, deadline=None)
@given(outlines, st.integers(64, 256), st.integers(0, 20))
def test_headings_tables_lists_and_code_of_any_size_and_order(source: str, tokens: int, overlap: int) -> None:
    """Of ordinary headings none is alone, and every passage from within a table has its header above."""
    document = parse_markdown(source.encode())
    found = chunked(document, title="Tides", tokens=tokens, overlap=overlap)
    assert_promises(document, found, tokens=tokens, share=3)
    for chunk in found:
        row = document.markdown[chunk.start_char :].startswith("| noon")
        assert (
            repeated_context(chunk) == "| hour | level |\n|---|---|\n" if row else "hour" not in repeated_context(chunk)
        )


code = st.lists(
    st.one_of(
        st.builds(
            lambda name, lines: f"def {name}():\n" + "    read(gauge)\n" * lines,
            st.sampled_from("fgh"),
            st.integers(1, 90),
        ),
        st.builds(
            lambda name, methods: (
                f"class {name}:\n" + "    @property\n    def m(self):\n        read('é')\n\n" * methods
            ),
            st.sampled_from("ABC"),
            st.integers(1, 60),
        ),
        st.text(max_size=40),
    ),
    max_size=6,
).map("\n".join)


@settings(max_examples=60, deadline=None)
@given(code, st.integers(48, 256), contexts)
def test_code_is_covered_and_named(source: str, tokens: int, context: Sequence[ContextPart]) -> None:
    """A passage within one definition stands under its name; what is not Python is read as well."""
    document = parse(source.encode("utf-8", "ignore"), name="a.py", media_type="text/x-python")
    found = chunked(document, title=None, tokens=tokens, overlap=0, context=context)
    assert_promises(document, found, tokens=tokens)
    for chunk in found:
        for block in document.blocks:
            if block.start <= chunk.start_char < chunk.end_char <= block.end:
                assert ".".join(chunk.heading_path) == block.title


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
