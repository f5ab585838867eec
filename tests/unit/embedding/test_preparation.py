from hypothesis import given
from hypothesis import strategies as st

from sourcebook.embedding.preparation import ROWS_PER_BATCH, batches_by_length


@given(st.lists(st.integers(0, 600), max_size=400), st.integers(1, 4_096))
def test_each_text_is_in_one_batch_and_no_batch_exceeds_its_tokens(counts: list[int], tokens: int) -> None:
    """Padded to its longest, a batch of several texts stays within the budget; the longest come first."""
    batches = batches_by_length(counts, tokens)
    assert sorted(position for batch in batches for position in batch) == list(range(len(counts)))
    for batch in batches:
        assert 1 <= len(batch) <= ROWS_PER_BATCH
        assert len(batch) == 1 or len(batch) * max(counts[position] for position in batch) <= tokens
    lengths = [counts[position] for batch in batches for position in batch]
    assert lengths == sorted(lengths, reverse=True)
