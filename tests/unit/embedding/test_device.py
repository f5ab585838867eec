"""The choice of a device, and what happens where it fails or has too little memory; torch's own classes, no GPU."""

from pathlib import Path

import pytest
import torch

from sourcebook.embedding import opening
from sourcebook.embedding.batch_sizes import is_out_of_memory, tokens_per_batch
from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.engine import Engine, choose_engine
from sourcebook.embedding.loading import load_folder
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.embedding.side_by_side import SideBySideEmbedder
from sourcebook.embedding.streams import Streams
from sourcebook.errors import ModelError
from sourcebook.processes.device import Device, choose_device, may_have_gpu
from tests.unit.embedding.mixed_texts import mixed_texts
from tests.unit.embedding.tiny_models import tiny_model

GPU = Engine("torch", "float32", "cuda", "torch can use a GPU")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> EmbeddingModel:
    return find_model(str(tiny_model(tmp_path_factory.mktemp("device") / "tiny")))


def test_without_a_gpu_torch_is_not_even_asked(tmp_path: Path) -> None:
    """The system's device files say that there is none; the settings may say so, too."""
    assert not may_have_gpu(tmp_path)
    assert choose_device("auto", tmp_path) == Device("cpu", "there is no GPU that torch could use")
    assert choose_device("cpu", tmp_path).is_required


def test_a_gpu_that_torch_can_use_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvidia0").touch()
    monkeypatch.setattr("sourcebook.processes.device.version", lambda package: "2.13.0+cu130")
    assert may_have_gpu(tmp_path)
    assert choose_device("auto", tmp_path).name == "cpu", "this machine has none"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto", tmp_path) == Device("cuda", "torch can use a GPU")
    assert choose_device("cuda", tmp_path).is_required
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    assert choose_engine("auto", choose_device("auto", tmp_path)) == Engine(
        "torch", "bfloat16", "cuda", "torch can use a GPU"
    )


@pytest.mark.parametrize("setting", ["cuda", "mps"])
def test_a_named_device_that_is_not_there_is_said(setting: str) -> None:
    """Nothing takes the place of what the settings name."""
    with pytest.raises(ModelError, match=rf"embedding.device is {setting}, but torch .* finds no such device"):
        choose_device(setting)  # type: ignore[arg-type] # parametrised


def test_a_gpu_that_cannot_be_loaded_to_leaves_the_processor(tiny: EmbeddingModel) -> None:
    """torch without CUDA refuses the device: the processor goes on and says why, unless the settings name the GPU."""
    embedder = SentenceTransformerEmbedder(tiny, engine=GPU)
    assert embedder.engine.device == "cpu"
    assert embedder.engine.reason.startswith("the GPU (cuda) failed: The embedding model")
    assert embedder.embed(["battery"]).shape == (1, 32)
    with pytest.raises(ModelError, match="CUDA"):
        SentenceTransformerEmbedder(tiny, engine=GPU, may_fall_back=False)


@pytest.mark.parametrize("may_fall_back", [True, False])
def test_a_gpu_that_vanishes(tiny: EmbeddingModel, monkeypatch: pytest.MonkeyPatch, may_fall_back: bool) -> None:
    """torch raises `AcceleratorError` at the third batch: it and the later ones are embedded on the processor."""
    texts = [text[:200] for text in mixed_texts(12)]
    expected = SentenceTransformerEmbedder(tiny, "float32").embed(texts)
    monkeypatch.setattr(
        "sourcebook.embedding.embedder.load_folder",
        lambda name, folder, precision, *_: load_folder(name, folder, precision),
    )
    vanishing = SentenceTransformerEmbedder(tiny, engine=GPU, may_fall_back=may_fall_back)
    batches = 0

    def vanish(*_: object) -> None:
        nonlocal batches
        batches += 1
        if batches == 3:
            raise torch.AcceleratorError("CUDA error: no CUDA-capable device is detected")

    vanishing._loaded.register_forward_pre_hook(vanish)
    vanishing._tokens = 60
    if not may_fall_back:
        with pytest.raises(ModelError, match="no CUDA-capable device"):
            vanishing.embed(texts)
        return
    assert (vanishing.embed(texts) * expected).sum(axis=1).min() >= 0.9995, "as in bfloat16, which the GPU computed in"
    assert (vanishing.engine.device, batches) == ("cpu", 3)
    assert vanishing.engine.reason == "the GPU (cuda) failed: CUDA error: no CUDA-capable device is detected"


def test_a_batch_too_large_for_the_memory_is_halved(tiny: EmbeddingModel) -> None:
    """The allocator's own error for more than four texts: later batches are smaller, and every vector is there."""
    embedder = SentenceTransformerEmbedder(tiny, "float32")
    embedder.streams = Streams(1)
    texts = [f"{number} battery" for number in range(12)]
    expected = embedder.embed(texts)
    batches = []

    def allocate(_: object, features: tuple[dict[str, torch.Tensor]]) -> None:
        batches.append(len(features[0]["input_ids"]))
        torch.empty(1 << 55 if batches[-1] > 4 else 1, dtype=torch.uint8)

    embedder._loaded.register_forward_pre_hook(allocate)
    embedder._tokens = 60
    assert (embedder.embed(texts) * expected).sum(axis=1).min() >= 0.9999
    assert batches == [12, 6, 3, 3, 6, 3, 3]
    assert embedder.engine.device == "cpu"
    batches.clear()
    embedder.embed(texts)
    assert batches == [3, 3, 3, 3], "as large as the ones that fitted"


def test_errors_of_memory_are_told_from_others() -> None:
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"))
    assert is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"))
    assert not is_out_of_memory(torch.AcceleratorError("CUDA error: unspecified launch failure"))
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))


def test_batches_grow_with_the_memory_of_a_gpu() -> None:
    """Never fewer tokens than the processor takes, and never without bound."""
    sizes = [tokens_per_batch(free, 384, 12, 256, 4) for free in (0, 2_000_000_000, 8_000_000_000, 10**12)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (2_048, 262_144)
    assert sizes[1] < sizes[2] < sizes[3]
    assert tokens_per_batch(8_000_000_000, 384, 12, 256, 2) > sizes[2], "half the bytes, more tokens"


def test_several_gpus_share_the_passages(tiny: EmbeddingModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """One embedder a GPU, which are processors here."""
    monkeypatch.setattr("sourcebook.processes.device.count_gpus", lambda device: 3)
    texts = [text[:200] for text in mixed_texts(20)]
    alone = SentenceTransformerEmbedder(tiny, "float32")
    together = opening.open_embedder(tiny, "float32", "cpu", None)
    assert isinstance(together, SideBySideEmbedder)
    assert (together.embed(texts) * alone.embed(texts)).sum(axis=1).min() >= 0.9999
    assert together.embed([]).shape == (0, 32)
    assert together.embed(texts[:1]).shape == (1, 32)
    assert together.engine.reason.endswith("; 3 of 3 GPUs share the work")
    assert (together.embed_query("battery") @ alone.embed_query("battery")) >= 0.9999
    together.close()
    with pytest.raises(ModelError, match="closed"):
        together.count_tokens("battery")
