import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.errors import ModelError
from tests.unit.embedding.mixed_texts import mixed_texts


def test_like_sentences_lie_close_and_unlike_ones_apart(embedder: SentenceTransformerEmbedder) -> None:
    """The vectors mean something: a paraphrase is near, another subject is far."""
    battery, paraphrase, other = embedder.embed(
        [
            "How long do the batteries last?",
            "What is the battery life of the device?",
            "The senate passed the bill on Tuesday.",
        ]
    )
    assert battery @ paraphrase > 0.7
    assert battery @ other < 0.15


def test_vectors_are_those_of_sentence_transformers_in_the_order_of_the_texts(
    embedder: SentenceTransformerEmbedder, model: EmbeddingModel
) -> None:
    """Sorting by length and batching by tokens change nothing: within 1e-5 of plain `encode`, row by row."""
    from sentence_transformers import SentenceTransformer

    texts = mixed_texts(24)
    expected = SentenceTransformer(str(model.folder), local_files_only=True).encode(texts, normalize_embeddings=True)
    vectors = embedder.embed(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape == (24, 384)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_bfloat16_gives_nearly_the_same_vectors(embedder: SentenceTransformerEmbedder, model: EmbeddingModel) -> None:
    """Half the bits cost at most a hundredth of cosine similarity, and rows still have length 1."""
    texts = mixed_texts(16)
    half = SentenceTransformerEmbedder(model, "bfloat16")
    vectors = half.embed(texts)
    assert half.precision == "bfloat16"
    assert vectors.dtype == np.float32
    assert (vectors * embedder.embed(texts)).sum(axis=1).min() >= 0.99
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    half.close()


def test_no_texts_give_no_rows(embedder: SentenceTransformerEmbedder) -> None:
    """An empty list keeps the shape."""
    assert embedder.embed([]).shape == (0, 384)


def test_a_question_is_one_vector(embedder: SentenceTransformerEmbedder) -> None:
    """This model has no prompts, so that a question and a passage of the same words are one vector."""
    question = embedder.embed_query("How long do the batteries last?")
    assert question.shape == (384,)
    np.testing.assert_allclose(question, embedder.embed(["How long do the batteries last?"])[0], atol=1e-5)


def test_threads_may_share_it(embedder: SentenceTransformerEmbedder) -> None:
    """Texts embedded from several threads at once get their own vectors."""
    texts = mixed_texts(12)
    with ThreadPoolExecutor(4) as threads:
        vectors = list(threads.map(embedder.embed_query, texts))
    np.testing.assert_allclose(np.stack(vectors), embedder.embed(texts), atol=1e-5)


def test_a_closed_embedder_says_so(model: EmbeddingModel) -> None:
    """Closing twice is fine; embedding afterwards is a `ModelError`."""
    closed = SentenceTransformerEmbedder(model, "float32")
    closed.close()
    closed.close()
    with pytest.raises(ModelError, match="has been closed"):
        closed.embed(["a"])


def test_prompts_of_the_model_are_used(
    embedder: SentenceTransformerEmbedder, model: EmbeddingModel, tmp_path: Path
) -> None:
    """A model that says `query: ` and `passage: ` (as E5 does) gets them before questions and passages."""
    assert model.folder is not None
    folder = tmp_path / "prompted"
    shutil.copytree(model.folder, folder)
    config = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(config))
    prompted = SentenceTransformerEmbedder(find_model(str(folder)), "float32")
    np.testing.assert_allclose(prompted.embed(["battery"]), embedder.embed(["passage: battery"]), atol=1e-5)
    np.testing.assert_allclose(prompted.embed_query("battery"), embedder.embed_query("query: battery"), atol=1e-5)
    prompted.close()


def test_nothing_is_printed() -> None:
    """No progress bar, no "Token indices sequence length" and no other word reaches the terminal."""
    code = (
        "from sourcebook.embedding.embedder import SentenceTransformerEmbedder as Embedder\n"
        "from sourcebook.embedding.model import find_model\n"
        "Embedder(find_model('all-MiniLM-L6-v2')).embed(['battery ' * 2000, 'a'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")
