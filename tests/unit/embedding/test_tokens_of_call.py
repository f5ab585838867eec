"""Tokens of a call: what a model reads of a batch is what it would have tokenized, and a text is tokenized once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sourcebook.embedding import embedder
from sourcebook.embedding.embedder import SentenceTransformerEmbedder, TokensOfCall
from sourcebook.embedding.loading import load_folder
from sourcebook.embedding.model import find_model
from tests.unit.embedding.mixed_texts import mixed_texts
from tests.unit.embedding.tiny_models import MAX_TOKENS, tiny_model

TEXTS = [*mixed_texts(9), "twice", "twice", "", "  two   words "]


def encoded(model: Any, texts: list[str], prompt: str = "") -> Any:
    return model.encode_document(texts, prompt=prompt, batch_size=len(texts))


@pytest.mark.parametrize("prompt", ["", "passage: "])
def test_a_batch_is_the_same_as_without(prompt: str, tmp_path: Path) -> None:
    """Equal vectors, with prompts that are pooled and such as are not, for long, empty and equal texts."""
    folder = tiny_model(tmp_path / "tiny", include_prompt=False)
    model: Any = load_folder("tiny", folder, "float32")
    batches = [TEXTS[:4], TEXTS[4:9], TEXTS[9:]]
    expected = [encoded(model, batch, prompt) for batch in batches]
    tokens = TokensOfCall(model, MAX_TOKENS)
    with tokens.of(TEXTS, prompt) as counts:
        assert counts is not None
        assert (len(counts), max(counts), min(counts)) == (len(TEXTS), MAX_TOKENS, 2 + 2 * bool(prompt))
        for batch, vectors in zip(batches, expected, strict=True):
            assert np.array_equal(encoded(model, batch, prompt), vectors)
    assert np.array_equal(encoded(model, batches[0], prompt), expected[0]), "after the call, by the model itself"


def test_other_texts_and_prompts_go_to_the_model(tmp_path: Path) -> None:
    """A text of no call, another prompt, and a question during a call."""
    model: Any = load_folder("tiny", tiny_model(tmp_path / "tiny"), "float32")
    expected = encoded(model, ["elsewhere"]), encoded(model, TEXTS[:1], "passage: "), model.encode_query(TEXTS[:1])
    with TokensOfCall(model, MAX_TOKENS).of(TEXTS, ""):
        found = encoded(model, ["elsewhere"]), encoded(model, TEXTS[:1], "passage: "), model.encode_query(TEXTS[:1])
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)


def test_what_cannot_be_kept_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Padding on the left, more tokens than are kept, no texts, and a closed one."""
    left: Any = load_folder("tiny", tiny_model(tmp_path / "left", padding_side="left"), "float32")
    with TokensOfCall(left, MAX_TOKENS).of(TEXTS, "") as counts:
        assert counts is None
    model: Any = load_folder("tiny", tiny_model(tmp_path / "tiny"), "float32")
    tokens = TokensOfCall(model, MAX_TOKENS)
    with tokens.of([], "") as counts:
        assert counts is None
    monkeypatch.setattr(embedder, "_MOST_TOKENS", len(TEXTS) * MAX_TOKENS - 1)
    with tokens.of(TEXTS, "") as counts:
        assert counts is None
    tokens.close()
    with tokens.of(["a"], "") as counts:
        assert counts is None


def test_an_embedder_tokenizes_a_text_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokenizer sees all texts of a call in one go, and none of them again."""
    embedder = SentenceTransformerEmbedder(find_model(str(tiny_model(tmp_path / "tiny"))), "float32")
    seen: list[int] = []
    model: Any = embedder._transformer
    tokenizer = type(model.tokenizer)
    own = tokenizer._encode_plus

    def counted(self: Any, text: Any, *args: Any, **more: Any) -> Any:
        seen.append(len(text))
        return own(self, text, *args, **more)

    monkeypatch.setattr(tokenizer, "_encode_plus", counted)
    embedder.embed(TEXTS)
    embedder.close()
    assert seen == [len(TEXTS)]
