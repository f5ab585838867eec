"""The estimate of tokens for a model whose tokenizer is not on this machine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.chunking.tokenizer import EstimatedTokens, token_counter
from sourcebook.config.collection import EmbeddingSettings

COUNTER = EstimatedTokens(8192)


@given(st.text())
def test_pieces_are_in_order_and_leave_out_white_space_alone(text: str) -> None:
    """So that a cut between two tokens loses nothing."""
    (offsets,) = COUNTER.offsets([text])
    end = 0
    for start, stop in offsets:
        assert start < stop
        assert not text[end:start].strip() or text[end:start].isspace() or not text[end:start].isprintable()
        end = stop
    assert COUNTER.count([text]) == [len(offsets) + COUNTER.special_tokens]


@given(st.text())
def test_pieces_of_words_make_the_pieces_of_the_text(text: str) -> None:
    """The promise `splits_at_spaces`."""
    whole = len(COUNTER.offsets([text])[0])
    assert sum(len(offsets) for offsets in COUNTER.offsets(text.split())) == whole


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("The tide rises.", 4), ("Donaudampfschifffahrt", 4), ("прилив", 2), ("2026", 2), ("潮汐表格", 2), ("a_b", 3)],
)
def test_words_are_counted_by_their_letters(text: str, tokens: int) -> None:
    assert COUNTER.count([text]) == [tokens + 2]


def test_a_provider_has_the_estimate_with_its_limit() -> None:
    settings = EmbeddingSettings(provider="openai", model="m", max_tokens=512)
    counter = token_counter(settings)
    assert isinstance(counter, EstimatedTokens)
    assert counter.max_tokens == 512
