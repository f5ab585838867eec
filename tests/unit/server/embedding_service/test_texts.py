"""Texts of requests to the embedding service."""

from sourcebook.server.embedding_service.texts import Prompts, most_read

E5 = Prompts("query: ", "passage: ")


def test_a_models_own_prompt_before_a_text_says_what_it_is() -> None:
    """Clients that write the prompt and those that name the kind get the same vectors: the prompt stands there once."""
    assert E5.sorted(["query: tides", "passage: bread", "rails", "query: "], None) == (
        ["tides", "bread", "rails", "query: "],
        [True, False, False, True],
    )
    assert E5.sorted(["query: tides"], "passage") == (["query: tides"], [False])
    assert E5.sorted(["tides"], "search_query") == (["tides"], [True])
    assert Prompts().sorted(["query: tides", "\ud800"], None) == (["query: tides", "\ufffd"], [False, False])


def test_tokens_are_counted_by_what_the_model_reads_at_most() -> None:
    """A long text counts as what the model reads of it."""
    assert most_read(["abc", "x" * 10_000], 256) == 5 + 256
