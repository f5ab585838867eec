"""Models whose files are whole, and that lack a part all the same: made-up numbers and words are never searched."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sourcebook.embedding.hub import check_loaded
from sourcebook.embedding.loading import load_folder
from sourcebook.errors import ModelError
from sourcebook.search.ranking.reranking.loading import load_cross_encoder
from tests.tiny_cross_encoder import build_cross_encoder
from tests.unit.embedding.tiny_models import tiny_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_model(tmp_path / "tiny", dense=16)


def without(folder: Path, dropped: Callable[[str], bool]) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    save_file({name: tensor for name, tensor in weights.items() if not dropped(name)}, folder / "model.safetensors")


def test_a_whole_model_is_loaded(folder: Path) -> None:
    check_loaded(load_folder("tiny", folder, "float32"), folder)


def test_a_layer_that_is_missing_is_not_made_up(folder: Path) -> None:
    """transformers would take random numbers, others at each start."""
    without(folder, lambda name: "layer.1." in name)
    with pytest.raises(ModelError, match=r"tiny lacks a part of the weights: it has [\d,]+ numbers, .*download"):
        load_folder("tiny", folder, "float32")


def test_a_pooler_that_is_missing_is_no_loss(folder: Path) -> None:
    """No vector depends on it; many models leave it out."""
    without(folder, lambda name: name.startswith("pooler."))
    load_folder("tiny", folder, "float32")


def test_words_need_a_tokenizer(folder: Path) -> None:
    """Without its files, transformers would take every word as unknown: all passages would be alike."""
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match="tiny lacks the files of the tokenizer, or they are empty: download"):
        load_folder("tiny", folder, "float32")


def test_texts_are_no_longer_than_the_positions(folder: Path) -> None:
    """torch would say "index out of range" in the middle of an ingest, at the first long passage."""
    settings = folder / "sentence_bert_config.json"
    settings.write_text('{"max_seq_length": 128}')
    load_folder("tiny", folder, "float32")
    settings.write_text('{"max_seq_length": 1290}')
    with pytest.raises(ModelError, match=r'tiny allows texts of 1,290 tokens, and has positions for 128: set "max_seq'):
        load_folder("tiny", folder, "float32")


@pytest.mark.parametrize("part", ["classifier.", "bert.pooler.", "bert.encoder.layer.0.attention."])
def test_a_cross_encoder_scores_by_its_own_numbers(tmp_path: Path, part: str) -> None:
    """Its pooler counts, too."""
    folder = build_cross_encoder(tmp_path / "tiny", ["tide"])
    load_cross_encoder(str(folder), None)
    without(folder, lambda name: name.startswith(part))
    with pytest.raises(ModelError, match=r"cannot be found or loaded: .*tiny lacks a part of the weights"):
        load_cross_encoder(str(folder), None)


def test_a_cross_encoder_with_pickled_weights_is_refused(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    folder = build_cross_encoder(tmp_path / "tiny", ["tide"])
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"has pickled weights \(pytorch_model.bin\)"):
        load_cross_encoder(str(folder), None)
