"""Counters of tokens: a tokenizer that is here counts exactly, else the bound."""

import random
import re
from pathlib import Path

import pytest

from benchmarks.corpora.declaration import DECLARATION
from sourcebook.context.token_bound import token_bound
from sourcebook.context.tokens import BOUND_COUNTER, token_counter
from sourcebook.embedding.model import find_model
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.errors import QueryError

TEXT = "The keeper greases the seal of the housing in spring."


def test_the_bound_counts_where_it_is_asked_for() -> None:
    counter = token_counter("bound")
    assert counter is BOUND_COUNTER
    assert not counter.is_exact
    assert counter.count(TEXT) == token_bound(TEXT)


def test_an_encoding_and_its_models_count_alike() -> None:
    pytest.importorskip("bpe_openai", reason="bpe-openai is not installed (the extra context)")
    assert token_counter().name == "o200k_base"
    by_model, by_name = token_counter("gpt-4o", may_load=False), token_counter("o200k_base")
    assert by_model.name == by_name.name == "o200k_base"
    assert by_name.is_exact
    assert by_name.count(TEXT) == by_model.count(TEXT) == 12
    assert by_name.count("<|endoftext|> \ud800") > 1


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base", "voyage3_base"])
def test_tokens_add_up_where_a_space_parts_two_words(encoding: str) -> None:
    pytest.importorskip("bpe_openai", reason="bpe-openai is not installed (the extra context)")
    counter = token_counter(encoding)
    assert counter.adds_up
    draw = random.Random(encoding)
    nasty = ["x's", "\n  y", "²", "Ⅷ", "1a", "'ll", "…", "\t\t", "\\n", "_b", "ﬁ", "क्ष", "漢字", " \u00a0", "\r"]
    for text in DECLARATION.values():
        words = [draw.choice([word, word, draw.choice(nasty)]) for word in text.split()]
        mixed = " ".join(words)
        for seam in re.finditer(r"[^\W\d_](?= [^\W\d_])", mixed):
            assert counter.count(mixed[: seam.end()]) + counter.count(mixed[seam.end() :]) == counter.count(mixed)


def test_the_tokenizer_of_a_folder_counts_without_special_tokens() -> None:
    folder = find_model(BUNDLED_NAME).folder
    assert folder is not None
    counter = token_counter(folder)
    assert counter.is_exact
    assert counter.count(TEXT) == token_counter(str(folder / "tokenizer.json")).count(TEXT) == 12
    assert counter.count("") == 0


@pytest.mark.parametrize("name", ["nobody/no-such-model", "/no/such/folder", "", "a\nb", "x" * 2_000, "../.."])
def test_a_name_without_a_tokenizer_is_refused(name: str) -> None:
    with pytest.raises(QueryError, match="tokenizer"):
        token_counter(name)


def test_a_folder_is_not_read_for_someone_else(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(QueryError, match="no tokenizer of that name"):
        token_counter(str(tmp_path), may_load=False)


@pytest.mark.parametrize("text", [TEXT + " ", "x", "漢字", "é\n"])
def test_texts_of_any_length_are_counted_without_a_token_too_few(text: str) -> None:
    """bpe-openai refuses a million characters, and 200,000 tokens."""
    bpe_openai = pytest.importorskip("bpe_openai", reason="bpe-openai is not installed (the extra context)")
    times = 1_200_000 // len(text)
    tenth = len(bpe_openai.get_encoding("o200k_base").encode_ordinary(text * (times // 10)))
    assert 10 * tenth - 10 <= token_counter("o200k_base").count(text * (times // 10 * 10)) <= 10 * tenth + 40
