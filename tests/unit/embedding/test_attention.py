"""Attention by products of matrices: the vectors of torch's own attention, in less time."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from sourcebook.embedding import attention
from sourcebook.embedding.loading import load_folder
from sourcebook.embedding.preparation import unit_rows
from tests.unit.embedding.mixed_texts import mixed_texts
from tests.unit.embedding.tiny_models import tiny_model

LAYER = SimpleNamespace(is_causal=False)


def inputs(texts: int, tokens: int) -> list[torch.Tensor]:
    torch.manual_seed(tokens)
    return [torch.randn(texts, tokens, 4, 16).to(torch.bfloat16).transpose(1, 2) for _ in range(3)]


def computed(rows: list[torch.Tensor], mask: torch.Tensor | None, **more: object) -> torch.Tensor:
    return attention.attention_by_products(LAYER, *rows, mask, scaling=0.25, **more)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("at_once", [1, 3_000, 1_000_000])
def test_padding_is_not_attended_to(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch's attention in float32, one text at a time or all at once, with padding or without."""
    monkeypatch.setattr(attention, "_SCORES", at_once)
    rows = inputs(5, 21)
    mask = torch.ones(5, 1, 21, 21, dtype=torch.bool)
    mask[1, :, :, 13:] = False
    mask[4, :, :, 2:] = False
    for each in (mask, None):
        expected = scaled_dot_product_attention(*[row.float() for row in rows], attn_mask=each, scale=0.25)
        assert (computed(rows, each).float() - expected.transpose(1, 2)).abs().max() < 0.04


def test_what_is_unusual_is_left_to_torch() -> None:
    """Masks that differ by query, causal attention, and numbers of another format."""
    rows = inputs(2, 9)
    causal = torch.ones(9, 9, dtype=torch.bool).tril().expand(2, 1, 9, 9)
    expected = scaled_dot_product_attention(*rows, attn_mask=causal, scale=0.25).transpose(1, 2)
    assert torch.equal(computed(rows, causal), expected)
    assert torch.equal(computed(rows, None, is_causal=True), expected)
    exact = [row.float() for row in rows]
    assert torch.equal(computed(exact, None), scaled_dot_product_attention(*exact, scale=0.25).transpose(1, 2))


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
    """AMX has torch's attention in bfloat16; without a file there is nothing to go by."""
    (tmp_path / "cpuinfo").write_text(f"flags\t\t: fpu {flags}\n")
    assert attention.has_slow_attention(tmp_path / "cpuinfo") is expected
    assert not attention.has_slow_attention(tmp_path / "none")
