"""Attention by products of matrices: the vectors of torch's own attention, in less time."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from sourcebook.embedding import attention
from sourcebook.embedding.loading import load_folder
from sourcebook.embedding.preparation import unit_rows
from tests.unit.embedding.mixed_texts import mixed_texts
from tests.unit.embedding.tiny_models import tiny_model


class Layer(torch.nn.Module):
    is_causal = False


LAYER = Layer()


Rows = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def inputs(texts: int, tokens: int) -> Rows:
    torch.manual_seed(tokens)
    query, key, value = (torch.randn(texts, tokens, 4, 16).to(torch.bfloat16).transpose(1, 2) for _ in range(3))
    return query, key, value


def exact(rows: Rows) -> Rows:
    return rows[0].float(), rows[1].float(), rows[2].float()


def by_torch(rows: Rows, mask: torch.Tensor | None) -> torch.Tensor:
    return scaled_dot_product_attention(*rows, attn_mask=mask, scale=0.25).transpose(1, 2)


def computed(rows: Rows, mask: torch.Tensor | None, *, is_causal: bool | None = None) -> torch.Tensor:
    return attention.attention_by_products(LAYER, *rows, mask, scaling=0.25, is_causal=is_causal)[0]


@pytest.mark.parametrize("at_once", [1, 3_000, 1_000_000])
def test_padding_is_not_attended_to(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch's attention in float32, one text at a time or all at once, with padding or without."""
    monkeypatch.setattr(attention, "SCORES", at_once)
    rows = inputs(5, 21)
    mask = torch.ones(5, 1, 21, 21, dtype=torch.bool)
    mask[1, :, :, 13:] = False
    mask[4, :, :, 2:] = False
    for each in (mask, None):
        assert (computed(rows, each).float() - by_torch(exact(rows), each)).abs().max() < 0.04


def test_what_is_unusual_is_left_to_torch() -> None:
    """Masks that differ by query, causal attention, and numbers of another format."""
    rows = inputs(2, 9)
    causal = torch.ones(9, 9, dtype=torch.bool).tril().expand(2, 1, 9, 9)
    expected = by_torch(rows, causal)
    assert torch.equal(computed(rows, causal), expected)
    assert torch.equal(computed(rows, None, is_causal=True), expected)
    assert torch.equal(computed(exact(rows), None), by_torch(exact(rows), None))


def test_a_loaded_model_gives_the_same_vectors(tmp_path: Path) -> None:
    """Cosine similarity above .999 to torch's attention in the same format, for short and long texts together."""
    folder = tiny_model(tmp_path / "tiny")
    own, products = (load_folder("tiny", folder, "bfloat16") for _ in range(2))
    assert attention.use_products(products)
    texts = mixed_texts(12)
    pairs = [unit_rows(np.asarray(model.encode(texts), np.float32)) for model in (own, products)]
    assert (pairs[0] * pairs[1]).sum(1).min() > 0.999
    assert not attention.use_products(products), "it has that attention already"


@pytest.mark.parametrize(
    ("flags", "expected"), [("avx512_bf16", True), ("avx512_bf16 amx_bf16", False), ("avx512f", False)]
)
def test_the_processor_decides(flags: str, expected: bool, tmp_path: Path) -> None:
    """With AMX torch's attention stays; without a file there is nothing to go by."""
    (tmp_path / "cpuinfo").write_text(f"flags\t\t: fpu {flags}\n")
    assert attention.has_slow_attention(tmp_path / "cpuinfo") is expected
    assert not attention.has_slow_attention(tmp_path / "none")
