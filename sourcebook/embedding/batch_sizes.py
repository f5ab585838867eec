"""Batch sizes of torch: from the memory of a GPU, and smaller ones after a lack of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sourcebook.embedding.preparation import TOKENS_PER_BATCH

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_SHARE: Final = 0.5
"""Share of the free memory that a batch may take."""
_MOST_TOKENS: Final = 262_144
_NUMBERS_PER_HIDDEN: Final = 16
"""Numbers of a token that are in memory at once, for each number of its vector: a layer's input, its projections, and
what is between its linear layers, four times the input, before and after the activation."""
_PHRASES: Final = ("not enough memory", "can't allocate memory", "out of memory")
"""Words of torch's errors that have no class of their own, as those of the processor's allocator."""


def tokens_per_batch(free: int, hidden: int, heads: int, max_tokens: int, bytes_per_number: int) -> int:
    """Return how many tokens fit into the memory of a device, padding included.

    Args:
        free: bytes of free memory, the weights already loaded.
        hidden: numbers of a token's vector.
        heads: heads of the attention, each of which has one number for each pair of tokens.
        max_tokens: tokens of the longest text.
        bytes_per_number: 2 or 4.

    Returns:
        At least the number that the processor takes.
    """
    per_token = (hidden * _NUMBERS_PER_HIDDEN + heads * max_tokens * 2) * bytes_per_number
    return min(max(int(free * _SHARE / per_token), TOKENS_PER_BATCH), _MOST_TOKENS)


def measured_tokens_per_batch(transformer: SentenceTransformer) -> int:
    """Return the tokens of a batch for a loaded model: by the free memory of its GPU, or those of the processor."""
    import torch

    device = transformer.device
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
    elif device.type == "mps":
        free = torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory()
    else:
        return TOKENS_PER_BATCH
    config = getattr(transformer[0], "config", None)
    hidden = getattr(config, "hidden_size", 0) or transformer.get_embedding_dimension() or 1_024
    heads = getattr(config, "num_attention_heads", 0) or max(hidden // 64, 1)
    longest = min(transformer.max_seq_length or 512, 8_192)
    return tokens_per_batch(free, hidden, heads, longest, next(transformer.parameters()).element_size())


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether torch failed for lack of memory, of a GPU or of the machine."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(phrase in str(error) for phrase in _PHRASES)


def free_gpu_memory() -> None:
    """Give the memory that torch keeps for later back to the GPU."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()
