"""The device of reranking: what happens where a GPU is missing, vanishes or has too little memory; no GPU is needed."""

import pytest
import torch

from sourcebook.contract.reranking import Reranking
from sourcebook.errors import ModelError, QueryError
from sourcebook.processes.device import Device
from sourcebook.search.ranking.reranking import local
from sourcebook.search.ranking.reranking.loading import load_cross_encoder
from sourcebook.search.ranking.reranking.local import LocalCrossEncoder
from tests.tiny_cross_encoder import build_cross_encoder

WORDS = ["the", "tide", "is", "high", "low", "water"]
QUERY = "is the tide high"
PASSAGES = [" ".join(WORDS[:length]) for length in (1, 2, 3, 4, 5, 6)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build_cross_encoder(tmp_path_factory.mktemp("reranking") / "tiny", WORDS))


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose GPU torch says that it can use; loading to it is what torch without CUDA makes of it."""
    found = {"auto": Device("cuda", "torch can use a GPU"), "cuda": Device("cuda", "so it is set", is_required=True)}
    monkeypatch.setattr(local, "choose_device", lambda setting, *, name: found[setting])


def test_a_device_that_is_none_or_not_there_is_refused(folder: str) -> None:
    with pytest.raises(QueryError, match=r"is .tpu.; it must be one of"):
        Reranking(folder, device="tpu")  # type: ignore[arg-type] # the mistake
    with pytest.raises(ModelError, match=r"reranking\.device is cuda, but torch .* finds no such device"):
        LocalCrossEncoder(Reranking(folder, device="cuda"))


@pytest.mark.usefixtures("with_gpu")
def test_a_gpu_that_cannot_be_loaded_to_leaves_the_processor(folder: str) -> None:
    expected = LocalCrossEncoder(Reranking(folder)).score(QUERY, PASSAGES)
    assert len(expected) == len(PASSAGES)
    with pytest.raises(ModelError, match="CUDA"):
        LocalCrossEncoder(Reranking(folder, device="cuda"))


@pytest.mark.usefixtures("with_gpu")
@pytest.mark.parametrize("setting", ["auto", "cuda"])
def test_a_gpu_that_vanishes(folder: str, monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setattr(local, "load_cross_encoder", lambda name, tokens, *_: load_cross_encoder(name, tokens))
    expected = LocalCrossEncoder(Reranking(folder)).score(QUERY, PASSAGES)
    vanishing = LocalCrossEncoder(Reranking(folder, device=setting))  # type: ignore[arg-type] # parametrised

    def vanish(*_: object) -> None:
        raise torch.AcceleratorError("CUDA error: no CUDA-capable device is detected")

    vanishing.encoder.register_forward_pre_hook(vanish)
    if setting == "cuda":
        with pytest.raises(ModelError, match="no CUDA-capable device"):
            vanishing.score(QUERY, PASSAGES)
        return
    assert vanishing.score(QUERY, PASSAGES) == pytest.approx(expected, abs=1e-5)


def test_pairs_too_many_for_the_memory_are_read_in_halves(folder: str) -> None:
    encoder = LocalCrossEncoder(Reranking(folder))
    expected = encoder.score(QUERY, PASSAGES)
    read = []

    def allocate(_: object, features: tuple[dict[str, torch.Tensor]]) -> None:
        read.append(len(features[0]["input_ids"]))
        torch.empty(1 << 55 if read[-1] > 2 else 1, dtype=torch.uint8)

    encoder.encoder.register_forward_pre_hook(allocate)
    assert encoder.score(QUERY, PASSAGES) == pytest.approx(expected, abs=1e-5)
    assert read == [6, 3, 1, 2, 3, 1, 2]
