"""Layers of a BERT model in bfloat16: weights packed for oneDNN ahead, no padding, attention by products of matrices.

Texts of a batch are rows one after the other, so that nothing is computed of padding but in attention.
docs/decisions/0057-streams-of-one-thread.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch
from torch.nn.functional import cosine_similarity, pad
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions
from transformers.models.bert.modeling_bert import BertModel

from sourcebook.embedding.attention import SCORES, STEP

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_ROWS: Final = 16
"""Rows of a batch are filled up to a multiple, because each number of them takes kernels of its own."""
_PACKED_FOR: Final = 1_024
"""Rows of a usual batch; other numbers of rows are computed from the same weights."""
_ALIKE: Final = 0.99
"""Least cosine similarity to the vectors of transformers' own layers, token by token."""
_LOWEST: Final = -1e30
"""Score of padding before the softmax."""


class Run(NamedTuple):
    """Neighbouring texts of one length in a batch."""

    first: int
    """First row."""
    texts: int
    tokens: int
    """Rows of each text."""

    @property
    def rows(self) -> slice:
        """Rows of all its texts."""
        return slice(self.first, self.first + self.texts * self.tokens)


def pack_encoder(transformer: SentenceTransformer) -> bool:
    """Have a loaded BERT model compute its layers from packed weights; return whether it does.

    Other models stay as they are, and so does one of which packed layers give other vectors.

    Args:
        transformer: a model in bfloat16 on the processor.
    """
    model: Any = getattr(transformer[0], "auto_model", None)
    if type(model) is not BertModel or not _is_usual(model.config):
        return False
    encoder, pooler = model.encoder, model.pooler
    try:
        with torch.inference_mode():
            expected = _probe(model)
            model.encoder = PackedEncoder(encoder.layer)
            if _needs_tokens_alone(transformer[0]):
                model.pooler = None  # computed for nothing
            if (cosine_similarity(_probe(model), expected, dim=-1) > _ALIKE).all():
                return True
    except (
        AttributeError,
        IndexError,
        RuntimeError,
        TypeError,
        ValueError,
    ):  # another release of torch or transformers
        pass
    model.encoder, model.pooler = encoder, pooler
    return False


class PackedEncoder(torch.nn.Module):
    """Takes the place of transformers' `BertEncoder`.

    Args:
        layers: its layers, in bfloat16.
    """

    def __init__(self, layers: Iterable[Any]) -> None:
        super().__init__()
        self.layer = torch.nn.ModuleList(map(PackedLayer, layers))

    def forward(
        self, hidden_states: torch.Tensor, attention_mask: torch.Tensor | None = None, **_more: Any
    ) -> BaseModelOutputWithPastAndCrossAttentions:
        """Compute all layers.

        Args:
            hidden_states: `(texts, tokens, hidden)`.
            attention_mask: `(texts, 1, tokens, tokens)`, true where a token is attended to; None: everywhere.
            _more: what training and decoders need.

        Returns:
            `last_hidden_state`, zero where there is padding.
        """
        texts, tokens, hidden = hidden_states.shape
        everywhere = torch.ones(texts, tokens, dtype=torch.bool)
        known = everywhere if attention_mask is None else attention_mask[:, 0, 0]
        rows = hidden_states[known]
        count = len(rows)
        rows = pad(rows, (0, 0, 0, max(-(-count // _ROWS), 1) * _ROWS - count))
        runs = list(_runs(known.sum(1).tolist()))
        for layer in self.layer:
            rows = layer(rows, runs)
        result = hidden_states.new_zeros(texts, tokens, hidden)
        result[known] = rows[:count]
        return BaseModelOutputWithPastAndCrossAttentions(last_hidden_state=result)


class PackedLayer(torch.nn.Module):
    """One layer.

    Args:
        layer: the layer of transformers, in bfloat16.
    """

    def __init__(self, layer: Any) -> None:
        super().__init__()
        own = layer.attention.self
        self.heads, self.size, self.scaling = own.num_attention_heads, own.attention_head_size, own.scaling
        self.all = _packed(own.query, own.key, own.value)
        self.attended = _packed(layer.attention.output.dense)
        self.inner = _packed(layer.intermediate.dense)
        self.outer = _packed(layer.output.dense)
        self.attention_norm, self.norm = layer.attention.output.LayerNorm, layer.output.LayerNorm

    def forward(self, rows: torch.Tensor, runs: Sequence[Run]) -> torch.Tensor:
        """Compute the layer for rows of texts, `(rows, hidden)`; rows after the last run are of no text."""
        linear = torch.ops.mkldnn._linear_pointwise  # noqa: SLF001 - what torch's own compiler calls; see the probe
        attended = self._attention(linear(rows, *self.all, "none", [], ""), runs)
        rows = self.attention_norm(linear.binary(attended, rows, *self.attended, "add"))
        inner = linear(rows, *self.inner, "gelu", [], "none")
        result: torch.Tensor = self.norm(linear.binary(inner, rows, *self.outer, "add"))
        return result

    def _attention(self, rows: torch.Tensor, runs: Sequence[Run]) -> torch.Tensor:
        """Return `(rows, hidden)` of queries, keys and values beside one another."""
        result = rows.new_zeros(len(rows), self.heads * self.size)
        for run in runs:
            width = -(-run.tokens // STEP) * STEP
            shape = run.texts, self.heads, width, self.size
            filled = rows.new_zeros(3, *shape) if width > run.tokens else rows.new_empty(3, *shape)
            parts = rows[run.rows].view(run.texts, run.tokens, 3, self.heads, self.size)
            filled[..., : run.tokens, :] = parts.permute(2, 0, 3, 1, 4)
            query, key, value = filled.view(3, -1, width, self.size)
            weighted = torch.empty_like(query)
            for part in self._at_once(len(query), width):
                weighted[part] = self._weighted(query[part], key[part], value[part], run.tokens)
            tokens = weighted.view(shape)[:, :, : run.tokens].transpose(1, 2)
            result[run.rows].view(run.texts, run.tokens, self.heads, self.size).copy_(tokens)
        return result

    def _at_once(self, count: int, width: int) -> Iterator[slice]:
        """Divide matrices into parts whose scores fit in a core's cache: of whole texts where one text's fit."""
        most = max(SCORES // (width * width), 1)
        most -= most % self.heads if most > self.heads else 0
        for first in range(0, count, most):
            yield slice(first, first + most)

    def _weighted(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, tokens: int) -> torch.Tensor:
        scores = torch.baddbmm(query.new_zeros(1), query, key.mT, beta=0, alpha=self.scaling)
        exact = scores.float()
        exact[..., tokens:] = _LOWEST
        return torch.bmm(scores.copy_(torch.softmax(exact, -1)), value)


def _packed(*layers: torch.nn.Linear) -> torch.nn.ParameterList:
    """Return the weights of linear layers as those of one layer, in oneDNN's order, and the biases."""
    weights, biases = (torch.cat([getattr(layer, name).detach() for layer in layers]) for name in ("weight", "bias"))
    ordered = torch.ops.mkldnn._reorder_linear_weight(weights, _PACKED_FOR)  # noqa: SLF001 - as above
    return torch.nn.ParameterList(torch.nn.Parameter(tensor, requires_grad=False) for tensor in (ordered, biases))


def _runs(lengths: Iterable[int]) -> Iterator[Run]:
    """Group neighbouring texts of one length; texts without tokens have no rows."""
    first = 0
    for tokens, alike in groupby(lengths):
        run = Run(first, len(list(alike)), tokens)
        first = run.rows.stop
        if tokens:
            yield run


def _is_usual(config: Any) -> bool:
    """Return whether a model is an encoder whose layers are those of the BERT paper."""
    return (
        config.hidden_act == "gelu"
        and getattr(config, "_attn_implementation", None) == "sdpa"
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
        and not config.is_decoder
        and not config.add_cross_attention
    )


def _needs_tokens_alone(module: Any) -> bool:
    """Return whether sentence-transformers reads nothing of a model but the vectors of tokens."""
    modalities = getattr(module, "modality_config", None) or {}
    names = [modality.get("method_output_name") for modality in modalities.values()]
    return bool(names) and all(name == "last_hidden_state" for name in names)


def _probe(model: Any) -> torch.Tensor:
    """Compute two texts of different length, `(tokens, hidden)` in float32."""
    known = torch.ones(2, 20, dtype=torch.long)
    known[1, 13:] = 0
    ids = torch.arange(known.numel()).view(known.shape) % model.config.vocab_size
    result = model(input_ids=ids, attention_mask=known).last_hidden_state
    tokens: torch.Tensor = result[known.bool()].float()
    return tokens
