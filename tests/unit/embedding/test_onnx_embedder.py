import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.embedder_pool import EmbedderPool
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.embedding.onnx.open import find_export, needs_export, open_exported
from sourcebook.embedding.onnx.record import Export
from sourcebook.embedding.opening import open_query_embedder
from sourcebook.embedding.process import EmbeddingProcess
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.errors import ModelError
from tests.unit.embedding.mixed_texts import mixed_texts
from tests.unit.embedding.tiny_models import tiny_model
from tests.waiting import workers


def test_threads_may_share_it(minilm: Export) -> None:
    """Eight threads that ask different questions at once each get their own vector, also with two threads inside."""
    texts = mixed_texts(16)
    for threads in (1, 2):
        embedder = open_exported(minilm, threads=threads)
        with ThreadPoolExecutor(8) as executor:
            vectors = list(executor.map(embedder.embed_query, texts))
        np.testing.assert_allclose(np.stack(vectors), embedder.embed(texts), atol=1e-5)
        embedder.close()


def test_tokens_are_counted_as_with_torch(minilm: Export, embedder: SentenceTransformerEmbedder) -> None:
    """What the count decides in a search is decided alike with both; special tokens and the limit are in it."""
    exported = open_exported(minilm)
    texts = ["", "battery", "电池的保修期", "half a pair \udc80", "battery " * 1_000]
    counts = [exported.count_tokens(text) for text in texts]
    assert counts == [embedder.count_tokens(text) for text in texts]
    assert (counts[0], counts[1], counts[4]) == (2, 3, 256)
    exported.close()


def test_no_texts_give_no_rows_and_a_closed_one_says_so(minilm: Export) -> None:
    """As with every embedder; closing twice is fine."""
    embedder = open_exported(minilm)
    assert embedder.embed([]).shape == (0, 384)
    assert embedder.submit(["a", "b"]).result().shape == (2, 384)
    embedder.close()
    embedder.close()
    with pytest.raises(ModelError, match="has been closed"):
        embedder.embed_query("a")
    with pytest.raises(ModelError, match="has been closed"):
        embedder.submit(["a"]).result()


def test_questions_go_to_the_export_of_the_generation_s_weights(minilm_home: Path, model: EmbeddingModel) -> None:
    """No reason is given, as nothing is amiss."""
    embedder, reason = open_query_embedder(
        minilm_home, f"{model.identity}/bfloat16", EmbeddingSettings(model=model.name)
    )
    assert isinstance(embedder, OnnxEmbedder)
    assert reason is None
    embedder.close()


def test_without_an_export_sentence_transformers_answers_and_says_why(tmp_path: Path) -> None:
    """A database from before, a refused model and a damaged export: the vector comes, and a sentence with it."""
    folder = tiny_model(tmp_path / "tiny")
    settings = EmbeddingSettings(model=str(folder), precision="float32")
    identity = find_model(str(folder)).identity
    embedder, reason = open_query_embedder(tmp_path, f"{identity}/float32", settings)
    assert isinstance(embedder, SentenceTransformerEmbedder)
    assert reason == (
        "Queries are embedded with sentence-transformers: "
        f"the model has not been exported to ONNX in {tmp_path / 'models'} yet: the next ingest does it."
    )
    embedder.close()


def test_weights_that_are_not_the_generation_s_are_refused(tmp_path: Path) -> None:
    """Questions embedded with other weights than the passages would find nonsense; an export of theirs finds sense."""
    folder = tiny_model(tmp_path / "tiny")
    settings = EmbeddingSettings(model=str(folder))
    before = find_model(str(folder)).identity
    (folder / "model.safetensors").unlink()
    other = tiny_model(tmp_path / "other", seed=1)
    (other / "model.safetensors").rename(folder / "model.safetensors")
    with pytest.raises(ModelError, match=rf"has other weights .* indexed with \({before}\): restore them, or index"):
        open_query_embedder(tmp_path, f"{before}/float32", settings)


def test_few_texts_wait_for_no_process(minilm_home: Path, model: EmbeddingModel) -> None:
    """An edited file's texts are embedded in this process with the export; many are not."""
    settings = EmbeddingSettings(model=BUNDLED_NAME, precision="float32")
    with EmbedderPool() as pool:
        pool.start_early(settings, minilm_home, items=100)
        assert pool.engine_of(settings) is None
        embedder = pool.for_texts(settings, minilm_home, texts=20)
        assert isinstance(embedder, OnnxEmbedder)
        assert pool.for_texts(settings, minilm_home, texts=20) is embedder
        assert embedder.submit(["battery"]).result().shape == (1, model.dimensions)
        assert pool.engine_of(settings) == embedder.engine
        pool.export_beside(settings, minilm_home)
        assert pool.wait_for_exports() == {}
        process = pool.for_texts(settings, minilm_home, texts=10_000)
        assert isinstance(process, EmbeddingProcess)
        assert pool.for_texts(settings, minilm_home, texts=20) is process
        engine = pool.engine_of(settings)
        assert engine is not None
        assert str(engine).startswith("onnxruntime in float32 on the processor: embedding.precision asks for float32")
    with pytest.raises(ModelError, match="has been closed"):
        embedder.embed(["battery"])
    with pytest.raises(ModelError, match="has been closed"):
        process.embed(["battery"])


def test_one_model_is_in_memory_at_a_time(tmp_path: Path) -> None:
    """Collections of other settings follow one another; a child that died, as during an export, is replaced.

    Few texts of a model of the box need no child in a new home either: its export is written first.
    """
    first = EmbeddingSettings(model=BUNDLED_NAME, precision="float32")
    second = first.model_copy(update={"precision": "bfloat16"})
    with EmbedderPool() as pool:
        pool.start_early(first, tmp_path, items=100)
        assert isinstance(pool.for_texts(first, tmp_path, texts=20), OnnxEmbedder)
        former = pool.for_texts(first, tmp_path, texts=10_000)
        assert isinstance(former, EmbeddingProcess)
        latter = pool.for_texts(second, tmp_path, texts=10_000)
        assert isinstance(latter, EmbeddingProcess)
        assert not former.is_active
        with pytest.raises(ModelError, match="has been closed"):
            former.embed(["battery"])
        assert pool.for_texts(second, tmp_path, texts=1) is latter
        latter.close()
        replacement = pool.for_texts(second, tmp_path, texts=10_000)
        assert replacement is not latter
        assert isinstance(replacement, EmbeddingProcess)
        assert replacement.is_active


def test_the_process_that_embedded_a_generation_exports_its_model(tmp_path: Path) -> None:
    """The first ingest starts a process for however few items, which exports the model once it has embedded them."""
    folder = tiny_model(tmp_path / "tiny")
    settings = EmbeddingSettings(model=str(folder))
    model = find_model(str(folder))
    with EmbedderPool() as pool:
        pool.start_early(settings, tmp_path, items=1)
        process = pool.for_texts(settings, tmp_path, texts=1)
        assert isinstance(process, EmbeddingProcess)
        vectors = process.submit(["battery"])
        pool.export_beside(settings, tmp_path)
        pool.export_beside(settings, tmp_path)
        assert pool.wait_for_exports() == {}
        exported = find_export(tmp_path, model.identity)
        assert isinstance(exported, Export)
        assert (open_exported(exported).embed(["battery"]) * vectors.result()).sum() >= 0.999


def test_an_export_whose_process_has_died_is_a_reason_and_no_error(tmp_path: Path) -> None:
    """The vectors are there; searches go on without the export, and the next ingest makes it."""
    settings = EmbeddingSettings(model=str(tiny_model(tmp_path / "tiny")))
    others = workers()
    with EmbedderPool() as pool:
        process = pool.for_texts(settings, tmp_path, texts=1)
        assert isinstance(process, EmbeddingProcess)
        process.embed(["ready"])
        (child,) = workers() - others
        os.kill(child, signal.SIGKILL)
        with pytest.raises(ModelError, match="was ended"):
            process.embed(["battery"])
        pool.export_beside(settings, tmp_path)
        (reason,) = pool.wait_for_exports().values()
    assert "was ended" in reason


def test_a_refusal_reaches_the_owner_of_the_pool(tmp_path: Path) -> None:
    """The model's process gives the reason where there is no export."""
    folder = tiny_model(tmp_path / "tiny", prompts={"query": "query: "}, include_prompt=False)
    settings = EmbeddingSettings(model=str(folder))
    with EmbedderPool() as pool:
        pool.start_early(settings, tmp_path, items=1)
        pool.export_beside(settings, tmp_path)
        assert pool.wait_for_exports() == {str(folder): "it leaves prompts out of the pooling"}
    assert not needs_export(tmp_path, find_model(str(folder)))
