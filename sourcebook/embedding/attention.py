"""Attention in bfloat16 by matrix products, for processors on which torch's own is a third of a model's time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sourcebook.embedding.engine import CPUINFO, cpu_flags

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

NAME: Final = "sourcebook_products"
"""Name of this attention among those of transformers."""
SCORES: Final = 350_000
"""Scores that are computed at once, unless one text has more: in both formats they fit in a core's cache."""
STEP: Final = 16
"""Tokens to which texts are filled up: each number of tokens takes kernels of its own, in time and in memory."""


def has_slow_attention(cpuinfo: Path = CPUINFO) -> bool:
    """Return whether the processor has AVX512_BF16 without AMX.

    There, products of whole matrices were measured to be faster than torch's attention; with AMX nothing was measured.

    Args:
        cpuinfo: the file Linux describes its processors in.
    """
    try:
        flags = cpu_flags(cpuinfo.read_text(encoding="ascii", errors="replace"))
    except OSError:
        return False
    return "avx512_bf16" in flags and "amx_bf16" not in flags


def use_products(transformer: SentenceTransformer) -> bool:
    """Have a loaded model compute its attention by products where it lets itself be told; return whether it does.

    Args:
        transformer: a model in bfloat16 on the processor.
    """
    model = getattr(transformer[0], "auto_model", None)
    config = getattr(model, "config", None)
    if model is None or getattr(config, "_attn_implementation", None) != "sdpa":
        return False
    if not getattr(model, "_supports_attention_backend", False) or getattr(config, "sub_configs", None):
        return False
    try:
        from transformers import AttentionInterface, AttentionMaskInterface
        from transformers.masking_utils import sdpa_mask
    except ImportError:  # an older release of transformers
        return False
    AttentionInterface.register(NAME, attention_by_products)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.set_attn_implementation(NAME)
    return getattr(config, "_attn_implementation", None) == NAME


def attention_by_products(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **more: Any,
) -> tuple[torch.Tensor, None]:
    """Compute the attention of one layer, as transformers' `sdpa_attention_forward`, which takes what is unusual.

    Args:
        module: the layer.
        query: `(texts, heads, tokens, size of a head)`.
        key: of the same shape.
        value: of the same shape.
        attention_mask: `(texts, 1, tokens, tokens)`, true where a token is attended to; None: everywhere.
        dropout: share of scores that training leaves out.
        scaling: factor of the scores.
        more: further arguments, each of which is unusual unless it is false.

    Returns:
        `(texts, tokens, heads, size of a head)`, and None in place of the scores.
    """
    import torch
    from torch.nn.functional import pad

    padding = None if attention_mask is None else _padding(attention_mask)
    is_causal = more.get("is_causal")
    if (
        query.dtype != torch.bfloat16
        or key.shape != query.shape
        or scaling is None
        or dropout
        or (attention_mask is None and (getattr(module, "is_causal", True) if is_causal is None else is_causal))
        or (attention_mask is not None and padding is None)
        or any(value is not None and value is not False for name, value in more.items() if name != "is_causal")
    ):
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        computed: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **more
        )
        return computed
    texts, heads, tokens, size = query.shape
    width = -(-tokens // STEP) * STEP
    if width > tokens:
        padding = query.new_zeros(texts, 1, 1, tokens) if padding is None else padding
        padding = pad(padding, (0, width - tokens), value=torch.finfo(torch.bfloat16).min)
    result = query.new_empty(texts, tokens, heads, size)
    at_once = max(SCORES // (heads * width * width), 1)
    for first in range(0, texts, at_once):
        part = slice(first, first + at_once)
        rows = [pad(tensor[part], (0, 0, 0, width - tokens)).reshape(-1, width, size) for tensor in (query, key, value)]
        if padding is None:
            scores = torch.baddbmm(rows[0].new_zeros(1), rows[0], rows[1].mT, beta=0, alpha=scaling)
        else:
            hidden = padding[part].expand(-1, heads, 1, width).reshape(-1, 1, width)
            scores = torch.baddbmm(hidden, rows[0], rows[1].mT, alpha=scaling)
        shares = torch.softmax(scores.float(), -1).to(query.dtype)
        result[part] = torch.bmm(shares, rows[2]).view(-1, heads, width, size)[:, :, :tokens].transpose(1, 2)
    return result, None


def _padding(mask: torch.Tensor) -> torch.Tensor | None:
    """Return what is added to scores: 0, or the lowest number for padding; None for a mask that differs by query."""
    import torch

    if mask.dtype != torch.bool or mask.ndim != 4 or mask.shape[1] != 1:
        return None
    row = mask[:, :, :1]
    if not torch.equal(mask, row.expand_as(mask)):
        return None
    return torch.zeros_like(row, dtype=torch.bfloat16).masked_fill_(~row, torch.finfo(torch.bfloat16).min)
