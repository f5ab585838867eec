"""The context of embedding texts: title, headings, and the end of the text before, as the settings choose."""

from collections.abc import Sequence

import pytest
from pydantic import ValidationError

from sourcebook.chunking.chunk import Chunk
from sourcebook.chunking.chunker import chunk_document
from sourcebook.config.collection import ChunkingSettings, ContextPart
from sourcebook.model.generation import Generation
from sourcebook.parsing.text.markdown import parse_markdown
from tests.unit.chunking.bundled_tokenizer import bundled_tokenizer

PARAGRAPHS = [
    f"Station {number} measures the tide at the {number}th pier, and its battery lasts for {number} winters. " * 3
    for number in range(2, 8)
]
TEXT = "# Gauges\n\n" + "\n\n".join(PARAGRAPHS)
EVERYTHING: tuple[ContextPart, ...] = ("title", "headings", "previous")


def _cut(context: Sequence[ContextPart], text: str = TEXT, tokens: int = 96) -> list[Chunk]:
    return chunk_document(
        parse_markdown(text.encode()),
        title="Handbook",
        tokens=tokens,
        overlap=0,
        tokenizer=bundled_tokenizer(),
        context=context,
    )


def test_each_passage_is_embedded_below_the_end_of_the_text_before_it() -> None:
    """Whole words, an eighth of the tokens; the passages themselves repeat nothing, and the first one has none."""
    found = _cut(EVERYTHING)
    assert len(found) > 3
    document = parse_markdown(TEXT.encode()).markdown
    for before, chunk in zip([None, *found], found, strict=False):
        assert chunk.text == document[chunk.start_char : chunk.end_char]
        context = chunk.embedding_text.removesuffix(chunk.text)
        if before is None:
            assert (chunk.previous, context) == ("", "Handbook\n\n")
            continue
        assert context == f"Handbook > Gauges\n\n{chunk.previous}\n\n"
        assert before.text.endswith(f" {chunk.previous}")
        assert 4 < len(bundled_tokenizer().offsets([chunk.previous])[0]) <= 96 // 8


def test_passages_with_their_context_fit_and_their_tokens_are_right() -> None:
    for tokens in (24, 48, 96):
        found = _cut(EVERYTHING, tokens=tokens)
        counts = bundled_tokenizer().count([chunk.embedding_text for chunk in found])
        assert [chunk.token_count for chunk in found] == counts
        assert max(counts) <= tokens


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ([], ""),
        (["title"], "Handbook\n\n"),
        (["headings"], "Gauges\n\n"),
        (["title", "headings"], "Handbook > Gauges\n\n"),
    ],
)
def test_the_titles_above_a_passage_are_those_that_were_chosen(context: list[ContextPart], expected: str) -> None:
    """The heading path that a citation shows does not depend on it."""
    second = _cut(context)[1]
    assert second.embedding_text.removesuffix(second.text) == expected
    assert second.heading_path == ("Gauges",)


def test_an_edit_gives_the_passage_behind_it_another_identity_where_its_end_is_embedded_there() -> None:
    """Else a document that changed bit by bit would keep vectors that a first ingest would not make."""
    last = "Here is the end of it, which follows the others."
    text = f"# One\n\n{PARAGRAPHS[0]}\n\n# Two\n\n{last}"
    edited = text.replace("2 winters. \n", "2 summers. \n")
    assert edited != text
    for context, is_kept in (((*EVERYTHING[:2],), True), (EVERYTHING, False)):
        before, after = _cut(context, text)[-1], _cut(context, edited)[-1]
        assert before.text == after.text == f"# Two\n\n{last}"
        assert (before.hash == after.hash) is is_kept
        assert (before.embedding_hash == after.embedding_hash) is is_kept


def test_settings_name_each_part_once_in_one_order() -> None:
    chosen = ChunkingSettings.model_validate({"context": ["previous", "title", "title"]})
    assert chosen.context == ("title", "previous")
    with pytest.raises(ValidationError):
        ChunkingSettings.model_validate({"context": ["summary"]})


def test_a_generation_from_before_the_setting_has_the_default_context() -> None:
    """It is no other generation than one that names the default, and is not built again."""
    old = Generation(1, "handbook", {"tokens": 256, "overlap": 0}, {}, "m", 2)
    new = Generation(2, "handbook", ChunkingSettings().model_dump(mode="json"), {}, "m", 2)
    assert old.settings == new.settings
    assert old.settings["chunking"]["context"] == ["title", "headings"]
