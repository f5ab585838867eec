"""Layers of packed weights: the vectors of transformers' own layers, and those alone where packed ones would differ."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from sourcebook.embedding import packed_encoder
from sourcebook.embedding.loading import load_folder
from sourcebook.embedding.packed_encoder import PackedEncoder, pack_encoder
from sourcebook.embedding.preparation import unit_rows
from tests.unit.embedding.mixed_texts import mixed_texts
from tests.unit.embedding.tiny_models import tiny_model

pytestmark = pytest.mark.skipif(
    not torch.ops.mkldnn._is_mkldnn_bf16_supported(), reason="oneDNN does not compute in bfloat16 on this processor"
)


def vectors(model: Any, texts: Sequence[str]) -> NDArray[np.float32]:
    return unit_rows(np.asarray(model.encode(list(texts)), np.float32))


def pair(folder: Path) -> tuple[Any, Any]:
    """Return a model twice, the second one packed."""
    own: Any = load_folder("tiny", folder, "bfloat16")
    packed: Any = load_folder("tiny", folder, "bfloat16")
    assert pack_encoder(packed)
    assert isinstance(packed[0].auto_model.encoder, PackedEncoder)
    return own, packed


@pytest.mark.parametrize("scores", [1, 3_000, 1_000_000])
@pytest.mark.parametrize("padding_side", ["right", "left"])
def test_the_vectors_are_the_same(
    scores: int, padding_side: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short, long, equally long and empty texts in one batch, whatever is computed at once and wherever padding is."""
    monkeypatch.setattr(packed_encoder, "SCORES", scores)
    own, packed = pair(tiny_model(tmp_path / "tiny", ["mean", "cls", "max"], padding_side=padding_side))
    texts = [*mixed_texts(12), "", "two words", "word two"]
    assert (vectors(own, texts) * vectors(packed, texts)).sum(1).min() > 0.999
    assert (vectors(own, texts[:1]) * vectors(packed, texts[:1])).sum() > 0.999, "alone, without padding"


def test_a_text_has_one_vector_in_every_batch(tmp_path: Path) -> None:
    """The texts before and behind it in a batch change nothing but roundings."""
    _, packed = pair(tiny_model(tmp_path / "tiny"))
    texts = mixed_texts(12)
    alone = np.concatenate([vectors(packed, [text]) for text in texts])
    assert (alone * vectors(packed, texts)).sum(1).min() > 0.9995


def test_texts_without_tokens_are_zero(tmp_path: Path) -> None:
    """Beside others, and alone; a tokenizer without special tokens gives such texts."""
    _, packed = pair(tiny_model(tmp_path / "tiny"))
    model = packed[0].auto_model
    ids, known = torch.tensor([[5, 6, 7], [0, 0, 0]]), torch.tensor([[1, 1, 1], [0, 0, 0]])
    with torch.inference_mode():
        both = model(input_ids=ids, attention_mask=known).last_hidden_state
        none = model(input_ids=ids[1:], attention_mask=known[1:]).last_hidden_state
        alone = model(input_ids=ids[:1], attention_mask=known[:1]).last_hidden_state
    assert torch.equal(both[0], alone[0])
    assert not both[1].any()
    assert not none.any()


def test_the_weights_are_there_once(tmp_path: Path) -> None:
    """Those of the layers are packed and let go of; what nobody reads is not computed."""
    own, packed = pair(tiny_model(tmp_path / "tiny"))
    pooler = sum(weights.numel() for weights in own[0].auto_model.pooler.parameters())
    counts = [sum(weights.numel() for weights in model.parameters()) for model in (own, packed)]
    assert counts[0] - counts[1] == pooler
    assert packed[0].auto_model.pooler is None


def test_other_layers_are_left_alone(tmp_path: Path) -> None:
    """A model with another activation, and one that computes its attention in another way."""
    model: Any = load_folder("tiny", tiny_model(tmp_path / "tiny"), "bfloat16")
    model[0].auto_model.config.hidden_act = "relu"
    assert not pack_encoder(model)
    model[0].auto_model.config.hidden_act = "gelu"
    model[0].auto_model.set_attn_implementation("eager")
    assert not pack_encoder(model)


@pytest.mark.parametrize("fault", ["other vectors", "no operator"])
def test_layers_that_fail_or_differ_are_not_used(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another release of torch or transformers: the model stays as it was."""
    own: Any = load_folder("tiny", tiny_model(tmp_path / "tiny"), "bfloat16")
    before = vectors(own, ["some text"])
    if fault == "no operator":
        monkeypatch.setattr(packed_encoder, "_packed", lambda *_layers: torch.ops.mkldnn.no_such_operator())
    else:
        monkeypatch.setattr(packed_encoder.PackedLayer, "forward", lambda _self, rows, _runs: -rows)
    assert not pack_encoder(own)
    assert own[0].auto_model.pooler is not None
    assert np.array_equal(vectors(own, ["some text"]), before)
