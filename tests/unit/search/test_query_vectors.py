"""Vectors of queries: kept, forgotten, and how far a model is trusted with a language."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.errors import ModelError
from sourcebook.search.query_vectors import QueryVectors, language_weight
from sourcebook.search.scope import ScopedGeneration

GENERATION = ScopedGeneration("handbook", 1, "m", EmbeddingSettings(), 2, ("simple",))


def in_pieces(bytes_each: float) -> Callable[[str], int]:
    """Return a tokenizer that makes tokens of so many bytes, and two more around each text, as BERT's does."""
    return lambda text: 2 + round(len("".join(text.split()).encode()) / bytes_each)


@pytest.mark.parametrize(("bytes_a_token", "expected"), [(5.0, 1.0), (3.5, 1.0), (2.75, 0.5), (2.0, 0.0), (1.0, 0.0)])
def test_trust_falls_with_the_length_of_tokens(bytes_a_token: float, expected: float) -> None:
    """1 from 3.5 bytes a token on, 0 up to 2, linear between."""
    assert language_weight("wordsandmoreofthem" * 12, in_pieces(bytes_a_token)) == pytest.approx(expected, abs=0.03)
    assert 0 <= language_weight("words and more of them, " * 12, in_pieces(bytes_a_token)) <= 1


@pytest.mark.parametrize("text", ["", "?!", "12 34", "\u200f", "\ud800"])
def test_where_nothing_can_be_counted_a_model_is_trusted_or_not_within_bounds(text: str) -> None:
    assert language_weight(text, None) == 1
    assert 0 <= language_weight(text, lambda text: 2) <= 1


class Embedder:
    """A model of two dimensions that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.counted: list[str] = []
        self.closed = False

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.asked.append(text)
        return np.array([1, 0], np.float32)

    def count_tokens(self, text: str) -> int:
        self.counted.append(text)
        return len(text) + 2

    def close(self) -> None:
        self.closed = True


def test_a_query_is_embedded_once_until_it_is_forgotten(tmp_path: Path) -> None:
    embedder = Embedder()
    vectors = QueryVectors(tmp_path, embedder)
    first, second = vectors.embed(GENERATION, "прилив"), vectors.embed(GENERATION, "прилив")
    assert embedder.asked == ["прилив"]
    assert np.array_equal(first.vector, second.vector)
    assert (first.language_weight, first.note) == (0.0, None), "a token a letter: the model does not know the language"
    vectors.forget()
    vectors.embed(GENERATION, "прилив")
    assert embedder.asked == ["прилив", "прилив"]


def test_a_query_without_a_finite_vector_names_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database would refuse the statement, and nobody knew why."""
    embedder = Embedder()
    monkeypatch.setattr(embedder, "embed_query", lambda text: np.full(3, np.nan, np.float32))
    with pytest.raises(ModelError, match=r"The embedding model .* not finite: its weights are damaged"):
        QueryVectors(tmp_path, embedder).embed(GENERATION, "tides")


def test_the_tokens_of_a_query_are_counted_once(tmp_path: Path) -> None:
    """For the metrics and the language weight together, and not again while the vector is kept."""
    embedder = Embedder()
    vectors = QueryVectors(tmp_path, embedder)
    weights = {vectors.embed(GENERATION, "прилив").language_weight for _ in range(2)}
    assert weights == {0.0}
    assert embedder.counted == ["прилив", ""]


def test_an_embedder_that_was_given_stays_its_owners(tmp_path: Path) -> None:
    embedder = Embedder()
    vectors = QueryVectors(tmp_path, embedder)
    vectors.embed(GENERATION, "tide")
    vectors.close()
    assert not embedder.closed


def test_the_real_tokenizer_knows_english_and_not_russian(tmp_path: Path) -> None:
    """As measured on the questions of benchmark sets: English is trusted wholly, Russian hardly, German in between."""
    from tokenizers import Tokenizer

    from sourcebook.embedding.model import find_model
    from sourcebook.embedding.weights import BUNDLED_NAME

    folder = find_model(BUNDLED_NAME).folder
    assert folder is not None
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text).ids)

    english = language_weight("How long do the batteries of the station last when the mains fail?", count)
    german = language_weight("Wie lange halten die Batterien der Messstation, wenn der Strom ausfällt?", count)
    russian = language_weight("Как долго работают батареи станции, если отключится электричество?", count)
    assert english == 1
    assert russian < german < 1
    assert russian < 0.5
    assert language_weight("สถานีวัดระดับน้ำทำงานด้วยแบตเตอรี่", count) == 0, "one unknown token"
    assert language_weight("Internationalization", count) == 1
    for text in ("GPU vs CPU", "what is R&D?", "TLS 1.3 vs 1.2", "how do I use && in bash?", "GDPR DPO",
                 "why does 10.0.3.14 not answer?", "How is a kayak booked?"):  # fmt: skip
        assert language_weight(text, count) == 1, f"{text}: no sign and no abbreviation tells a language"


def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, embedder: Embedder) -> QueryVectors:
    """Return vectors whose model is loaded, and whose last search was of the handbook."""
    monkeypatch.setattr("sourcebook.embedding.opening.open_query_embedder", lambda *_: (embedder, None))
    vectors = QueryVectors(tmp_path)
    vectors.open(GENERATION)
    vectors.remember(("handbook",), [GENERATION])
    return vectors


def test_a_query_is_embedded_ahead_in_another_thread(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A search of the same collections finds its vector made, or being made, and none is made twice."""
    embedder = Embedder()
    vectors = opened(monkeypatch, tmp_path, embedder)
    with ThreadPoolExecutor(1) as executor:
        vectors.begin(executor, ("handbook",), "tide")
        executor.submit(int).result()
        assert embedder.asked == ["tide"]
        assert vectors.embed(GENERATION, "tide").vector.tolist() == [1, 0]
        assert vectors.embed(GENERATION, "ebb").vector.tolist() == [1, 0]
    assert embedder.asked == ["tide", "ebb"]


def test_a_query_is_not_embedded_ahead_without_a_known_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Other collections may have another model, and an embedder of the program may be bound to its thread."""
    embedder, given = Embedder(), Embedder()
    vectors, with_given = opened(monkeypatch, tmp_path, embedder), QueryVectors(tmp_path, given)
    with_given.remember(None, [GENERATION])
    with ThreadPoolExecutor(1) as executor:
        vectors.begin(executor, None, "tide")
        with_given.begin(executor, None, "tide")
    assert embedder.asked == given.asked == []


def test_a_search_never_waits_for_a_thread_to_embed_ahead(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where all threads are busy the search embeds the query itself."""
    embedder = Embedder()
    vectors = opened(monkeypatch, tmp_path, embedder)
    leave = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        executor.submit(leave.wait)
        vectors.begin(executor, ("handbook",), "tide")
        assert vectors.embed(GENERATION, "tide").vector.tolist() == [1, 0]
        leave.set()
    assert embedder.asked == ["tide"]


def test_an_error_of_embedding_ahead_is_the_search_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    embedder = Embedder()
    vectors = opened(monkeypatch, tmp_path, embedder)

    def fail(text: str) -> NDArray[np.float32]:
        raise ModelError(f"cannot embed {text}")

    monkeypatch.setattr(embedder, "embed_query", fail)
    with ThreadPoolExecutor(1) as executor:
        vectors.begin(executor, ("handbook",), "tide")
        with pytest.raises(ModelError, match="cannot embed tide"):
            vectors.embed(GENERATION, "tide")
