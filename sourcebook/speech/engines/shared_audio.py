"""Beam search over several pieces at once, with openai-whisper's decoding task.

openai-whisper decodes one piece at a time, and for each token it copies the 1,500 keys and values of the piece's sound
to each beam. Here the beams of a piece are several queries over one set of keys and values. Cross-attention has no
mask, so the result is equal, in a fraction of the time.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own name for it
from torch import Tensor
from whisper.decoding import DecodingOptions, DecodingTask, Inference
from whisper.model import Whisper


class BatchedDecoding(DecodingTask):  # type: ignore[misc]  # whisper has no types
    """Decodes several pieces in one language.

    Args:
        model: Model in float32.
        options: Options that name a language.
    """

    def __init__(self, model: Whisper, options: DecodingOptions) -> None:
        super().__init__(model, options)
        self.inference = SharedAudioInference(model, self.n_group)
        if hasattr(self.decoder, "inference"):  # a beam search reorders the cache
            self.decoder.inference = self.inference

    def _get_audio_features(self, mel: Tensor) -> Tensor:
        """Return the features of each piece, repeated for each of its beams."""
        features: Tensor = super()._get_audio_features(mel)
        return features.repeat_interleave(self.n_group, dim=0)

    def _detect_language(self, audio_features: Tensor, tokens: Tensor) -> tuple[list[str | None], None]:
        return [self.options.language] * len(tokens), None


class DecoderOfEncodedSound:
    """A model for `find_alignment` of whisper, which takes encoded sound in place of a spectrogram.

    `find_alignment` encodes the spectrogram again, which takes a third of the time of a piece.

    Args:
        model: Model with the decoder.
        alignment_heads: Attention heads that align words with the sound, a sparse matrix of layers and heads.
    """

    def __init__(self, model: Whisper, alignment_heads: Tensor) -> None:
        self.decoder = model.decoder
        self.dims = model.dims
        self.device = model.device
        self.alignment_heads = alignment_heads

    def __call__(self, encoded: Tensor, tokens: Tensor) -> Tensor:
        """Return the logits of the tokens, shape (pieces, tokens, vocabulary)."""
        logits: Tensor = self.decoder(tokens, encoded)
        return logits


class SharedAudioInference(Inference):  # type: ignore[misc]
    """One step of the text decoder for every beam of every piece, with a cache of keys and values.

    Args:
        model: Model with the decoder.
        beams: Number of beams per piece; they are consecutive in the batch.
    """

    def __init__(self, model: Whisper, beams: int) -> None:
        self._decoder = model.decoder
        self._beams = beams
        self.cleanup_caching()

    def cleanup_caching(self) -> None:
        """Empty the cache."""
        self._sound: list[tuple[Tensor, Tensor]] = []
        self._keys: list[Tensor] = []
        self._values: list[Tensor] = []
        self._length = 0

    def rearrange_kv_cache(self, source_indices: Sequence[int]) -> None:
        """Continue each beam from another beam of its piece."""
        if list(source_indices) == list(range(len(source_indices))):
            return
        chosen = torch.tensor(source_indices, device=self._keys[0].device)
        self._keys = [keys.index_select(0, chosen) for keys in self._keys]
        self._values = [values.index_select(0, chosen) for values in self._values]

    def logits(self, tokens: Tensor, audio_features: Tensor) -> Tensor:
        """Return the logits of the new tokens, shape (beams of all pieces, new tokens, vocabulary)."""
        decoder = self._decoder
        if not self._sound:
            features = audio_features[:: self._beams]
            self._sound = [
                (
                    _heads(block.cross_attn.key(features), block.cross_attn.n_head).contiguous(),
                    _heads(block.cross_attn.value(features), block.cross_attn.n_head).contiguous(),
                )
                for block in decoder.blocks
            ]
        is_first = self._length == 0
        new = tokens[:, self._length :]
        length = new.shape[1]
        state = decoder.token_embedding(new) + decoder.positional_embedding[self._length : self._length + length]
        for number, block in enumerate(decoder.blocks):
            attention = block.attn
            own = block.attn_ln(state)
            query, key, value = (
                _heads(made(own), attention.n_head) for made in (attention.query, attention.key, attention.value)
            )
            if is_first:
                self._keys.append(key)
                self._values.append(value)
            else:
                self._keys[number] = key = torch.cat([self._keys[number], key], 2)
                self._values[number] = value = torch.cat([self._values[number], value], 2)
            seen = F.scaled_dot_product_attention(query, key, value, is_causal=is_first and length > 1)
            state = state + attention.out(_joined(seen))
            attention = block.cross_attn
            asked = attention.query(block.cross_attn_ln(state))
            query = _heads(asked.view(-1, self._beams * length, asked.shape[-1]), attention.n_head)
            heard = F.scaled_dot_product_attention(query, *self._sound[number])
            state = state + attention.out(_joined(heard).view(state.shape))
            state = state + block.mlp(block.mlp_ln(state))
        self._length += length
        logits: Tensor = decoder.ln(state) @ decoder.token_embedding.weight.T
        return logits.float()


def _heads(state: Tensor, heads: int) -> Tensor:
    """Return (rows, heads, tokens, width of a head) of (rows, tokens, width)."""
    return state.view(state.shape[0], state.shape[1], heads, -1).transpose(1, 2)


def _joined(state: Tensor) -> Tensor:
    """Undo `_heads`."""
    return state.transpose(1, 2).flatten(2)
