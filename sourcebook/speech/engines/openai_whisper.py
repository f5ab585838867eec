"""The engine openai-whisper, the reference implementation: on torch, in float32, several pieces at once."""

import warnings
from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own name for it
import whisper
import whisper.timing
from numpy.typing import NDArray
from torch import Tensor
from whisper.audio import HOP_LENGTH, N_SAMPLES
from whisper.decoding import DecodingOptions, DecodingResult, DecodingTask, Inference
from whisper.model import Whisper
from whisper.timing import find_alignment, merge_punctuations
from whisper.tokenizer import get_tokenizer
from whisper.utils import compression_ratio

from sourcebook.model.device import DeviceName
from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.decoding import Samples
from sourcebook.speech.engine import BEAMS, LANGUAGE_CONTEXT, LANGUAGE_SECONDS, Heard, Word
from sourcebook.speech.engines.tokens import BEFORE_WORDS, BEHIND_WORDS, text_tokens


def alignment_path(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the path of least cost from the first cell to the last one; steps go down, right, or both.

    In place of openai-whisper's own, which numba compiles for three seconds.

    Args:
        costs: cost of each pair of a token and a frame, (tokens, frames).

    Returns:
        Rows and columns of the path's cells, (2, cells); the same as those of `whisper.timing.dtw_cpu`.
    """
    rows, columns = costs.shape
    sums = np.full((rows + 1) * (columns + 1), np.inf)
    sums[0] = 0
    steps = np.full(sums.size, 2, np.int8)
    flat = np.pad(costs, ((1, 0), (1, 0))).ravel()
    width = columns + 1
    for diagonal in range(2, rows + columns + 1):  # its cells do not depend on each other
        first, last = max(1, diagonal - columns), min(rows, diagonal - 1)
        start, stop = first * width + diagonal - first, last * width + diagonal - last + 1
        both = sums[start - width - 1 : stop - width - 1 : columns]
        down = sums[start - width : stop - width : columns]
        right = sums[start - 1 : stop - 1 : columns]
        is_both, is_down = (both < down) & (both < right), (down < both) & (down < right)
        steps[start:stop:columns] = np.where(is_both, 0, np.where(is_down, 1, 2))
        sums[start:stop:columns] = flat[start:stop:columns] + np.where(is_both, both, np.where(is_down, down, right))
    row, column = rows, columns
    path = []
    while row or column:
        path.append((row - 1, column - 1))
        step = 2 if row == 0 else 1 if column == 0 else steps[row * width + column]
        row, column = row - (step != 2), column - (step != 1)
    return np.array(path[::-1]).T


whisper.timing.dtw_cpu = alignment_path

_OTHER_TEMPERATURE = 0.4
"""Temperature of a second try, which samples tokens; the random seed is constant."""
_BATCH = 4
"""Pieces per batch; 4 took a third less time than 2, and 0.2 GB more memory."""

_LANGUAGE_BATCH = 16
"""Sounds per batch whose languages are detected."""


class OpenAiWhisper:
    """openai-whisper as an `Engine`.

    Args:
        model: path of a checkpoint, or the name of a model to download.
        name: name of the model in the configuration; a model of OpenAI's has known attention heads that align words
            with the sound best.
        device: device that computes.
    """

    def __init__(self, model: str, *, name: str, device: DeviceName = "cpu") -> None:
        self._model = whisper.load_model(model, device="cpu")
        heads = whisper._ALIGNMENT_HEADS.get(name)  # noqa: SLF001 - a checkpoint does not name them
        if heads is not None:
            self._model.set_alignment_heads(heads)
        heads = self._model.alignment_heads
        if device != "cpu":  # where Apple's GPUs take no sparse tensor
            self._model.register_buffer("alignment_heads", heads.to_dense(), persistent=False)
            self._model = self._model.to(device)
        self._decoder = DecoderOfEncodedSound(self._model, heads)

    @torch.inference_mode()
    def detect_languages(self, sounds: Sequence[Samples]) -> list[dict[str, float]]:
        """See the method of `Engine`."""
        if not self._model.is_multilingual:
            return [{"en": 1.0}] * len(sounds)
        most = round(LANGUAGE_SECONDS * SAMPLE_RATE)
        found: list[dict[str, float]] = []
        for first in range(0, len(sounds), _LANGUAGE_BATCH):
            batch = [
                self._spectrogram(sound[:most], round(LANGUAGE_CONTEXT * SAMPLE_RATE))
                for sound in sounds[first : first + _LANGUAGE_BATCH]
            ]
            found += _language_probabilities(self._model, torch.stack(batch))
        return found

    @torch.inference_mode()
    def transcribe(self, pieces: Sequence[Samples], language: str, *, again: bool = False) -> list[Heard]:
        """See the method of `Engine`."""
        options = DecodingOptions(
            language=language,
            temperature=_OTHER_TEMPERATURE if again else 0.0,
            beam_size=None if again else BEAMS,
            best_of=BEAMS if again else None,
            fp16=False,
        )
        torch.manual_seed(0)
        heard: list[Heard] = []
        for first in range(0, len(pieces), _BATCH):
            batch = pieces[first : first + _BATCH]
            encoded = self._model.encoder(torch.stack([self._spectrogram(piece) for piece in batch]))
            results = BatchedDecoding(self._model, options).run(encoded)
            heard += [
                self._heard(piece, sound, result, language)
                for piece, sound, result in zip(batch, encoded, results, strict=True)
            ]
        return heard

    def _spectrogram(self, piece: Samples, length: int = N_SAMPLES) -> torch.Tensor:
        padded = whisper.pad_or_trim(torch.from_numpy(piece), length)
        spectrogram: torch.Tensor = whisper.log_mel_spectrogram(padded, self._model.dims.n_mels)
        return spectrogram.to(self._model.device)

    def _heard(self, piece: Samples, encoded: torch.Tensor, result: DecodingResult, language: str) -> Heard:
        tokenizer = get_tokenizer(
            self._model.is_multilingual, num_languages=self._model.num_languages, language=language, task="transcribe"
        )
        length = len(piece) / SAMPLE_RATE
        tokens, end = text_tokens(result.tokens, tokenizer.timestamp_begin, tokenizer.eot, length)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whisper warns that alignment runs without a GPU
            words = find_alignment(self._decoder, tokenizer, tokens, encoded, len(piece) // HOP_LENGTH)
        merge_punctuations(words, BEFORE_WORDS, BEHIND_WORDS)
        return Heard(
            tuple(Word(word.word, float(word.start), float(word.end)) for word in words if word.word),
            end,
            float(result.avg_logprob),
            float(result.no_speech_prob),
            compression_ratio(text) if (text := tokenizer.decode(tokens)) else 0.0,
        )


def _language_probabilities(model: Whisper, spectrograms: Tensor) -> list[dict[str, float]]:
    """Return the probability of each language, by Whisper's code, for each sound, without silence up to thirty seconds.

    openai-whisper's encoder takes thirty seconds only. Its layers take any length: the positions are cut to it.

    Args:
        model: multilingual model, on the device of the spectrograms.
        spectrograms: log-Mel spectrograms of equal length, (sounds, bands, frames), at most thirty seconds each.
    """
    tokenizer = get_tokenizer(multilingual=True, num_languages=model.num_languages)
    features = _encoded(model, spectrograms)
    beginning = torch.tensor([[tokenizer.sot]] * len(spectrograms), device=features.device)
    logits = model.logits(beginning, features)[:, 0, list(tokenizer.all_language_tokens)]
    return [
        dict(zip(tokenizer.all_language_codes, row.tolist(), strict=True)) for row in logits.float().softmax(dim=-1)
    ]


def _encoded(model: Whisper, spectrograms: Tensor) -> Tensor:
    encoder = model.encoder
    state = F.gelu(encoder.conv2(F.gelu(encoder.conv1(spectrograms)))).permute(0, 2, 1)
    state = state + encoder.positional_embedding[: state.shape[1]]
    for block in encoder.blocks:
        state = block(state)
    encoded: Tensor = encoder.ln_post(state)
    return encoded


class BatchedDecoding(DecodingTask):  # type: ignore[misc]  # whisper has no types
    """Decodes several pieces in one language.

    openai-whisper decodes one piece at a time, and for each token it copies the 1,500 keys and values of its sound to
    each beam. Here the beams of a piece are several queries over one set of keys and values. Cross-attention has no
    mask, so the result is equal, in a fraction of the time.

    Args:
        model: model in float32.
        options: options that name a language.
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
        model: model with the decoder.
        alignment_heads: attention heads that align words with the sound, a sparse matrix of layers and heads.
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
        model: model with the decoder.
        beams: number of beams per piece; they are consecutive in the batch.
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
