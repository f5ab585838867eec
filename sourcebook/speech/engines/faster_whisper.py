"""The engine faster-whisper: Whisper on CTranslate2, with 8-bit weights."""

from collections.abc import Sequence
from typing import Literal

import ctranslate2
import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.audio import pad_or_trim
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_compression_ratio, get_suppressed_tokens, merge_punctuations

from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.processes.cores import usable_threads
from sourcebook.speech.decoding import Samples
from sourcebook.speech.engine import BEAMS, LANGUAGE_CONTEXT, LANGUAGE_SECONDS, LONGEST_PIECE, Heard, Word
from sourcebook.speech.engines.tokens import BEFORE_WORDS, BEHIND_WORDS, text_tokens

_BATCH = 4
"""Pieces per batch; 8 took as long and 0.5 GB more memory."""
_LANGUAGE_BATCH = 16
"""Sounds per batch whose languages are detected."""
_LONGEST_REPETITION = 3
"""Tokens of a sequence that must not occur twice in a second try."""
_FRAMES_A_SECOND = 100
"""Frames of the spectrogram per second of sound."""
_LATEST_BEGINNING = 50
"""Latest first time stamp, in steps of 20 ms: one second, as in Whisper's own decoding."""


class FasterWhisper:
    """faster-whisper as an `Engine`.

    `WhisperModel.transcribe` takes one piece at a time, and its batched pipeline loses the speech after an early end.
    This class therefore calls the lower steps of the model.

    Args:
        model: folder in CTranslate2's format, or the name of a model to download.
        device: device that computes; CTranslate2 knows no Apple GPU.
    """

    def __init__(self, model: str, device: Literal["cpu", "cuda"] = "cpu") -> None:
        numbers = "int8" if device == "cpu" else "int8_float16"
        self._model = WhisperModel(model, device=device, compute_type=numbers, cpu_threads=usable_threads())

    def detect_languages(self, sounds: Sequence[Samples]) -> list[dict[str, float]]:
        """See the method of `Engine`."""
        if not self._model.model.is_multilingual:
            return [{"en": 1.0}] * len(sounds)
        found: list[dict[str, float]] = []
        most = round(LANGUAGE_SECONDS * SAMPLE_RATE)
        for first in range(0, len(sounds), _LANGUAGE_BATCH):
            batch = [sound[:most] for sound in sounds[first : first + _LANGUAGE_BATCH]]
            languages = self._model.model.detect_language(self._encoded(batch, LANGUAGE_CONTEXT))
            found += [{token.strip("<|>"): probability for token, probability in one} for one in languages]
        return found

    def transcribe(self, pieces: Sequence[Samples], language: str, *, again: bool = False) -> list[Heard]:
        """See the method of `Engine`."""
        heard: list[Heard] = []
        for first in range(0, len(pieces), _BATCH):
            heard += self._transcribe(pieces[first : first + _BATCH], language, again=again)
        return heard

    def _transcribe(self, pieces: Sequence[Samples], language: str, *, again: bool) -> list[Heard]:
        tokenizer = Tokenizer(
            self._model.hf_tokenizer, self._model.model.is_multilingual, task="transcribe", language=language
        )
        encoded = self._encoded(pieces)
        results = self._model.model.generate(
            encoded,
            [self._model.get_prompt(tokenizer, [], without_timestamps=False)] * len(pieces),
            beam_size=BEAMS,
            # Sampling tokens, as openai-whisper does, would give another text each time.
            no_repeat_ngram_size=_LONGEST_REPETITION if again else 0,
            length_penalty=1,
            max_length=self._model.max_length,
            suppress_blank=True,
            suppress_tokens=get_suppressed_tokens(tokenizer, [-1]),
            max_initial_timestamp_index=_LATEST_BEGINNING,
            return_scores=True,
            return_no_speech_prob=True,
        )
        seconds = [len(piece) / SAMPLE_RATE for piece in pieces]
        found = [
            text_tokens(result.sequences_ids[0], tokenizer.timestamp_begin, tokenizer.eot, length)
            for result, length in zip(results, seconds, strict=True)
        ]
        frames = [round(length * _FRAMES_A_SECOND) for length in seconds]
        aligned = self._model.find_alignment(tokenizer, [tokens for tokens, _ in found], encoded, frames)
        for words in aligned:
            merge_punctuations(words, BEFORE_WORDS, BEHIND_WORDS)
        return [
            Heard(
                words=tuple(
                    Word(word["word"], float(word["start"]), float(word["end"])) for word in words if word["word"]
                ),
                end=end,
                average_log_probability=_per_token(result.scores[0], len(result.sequences_ids[0])),
                no_speech_probability=result.no_speech_prob,
                compression_ratio=get_compression_ratio(text) if (text := tokenizer.decode(tokens)) else 0.0,
            )
            for (tokens, end), words, result in zip(found, aligned, results, strict=True)
        ]

    def _encoded(self, pieces: Sequence[Samples], seconds: float = LONGEST_PIECE) -> "ctranslate2.StorageView":
        frames = round(seconds * _FRAMES_A_SECOND)
        features = [pad_or_trim(self._model.feature_extractor(piece)[..., :-1], frames) for piece in pieces]
        return self._model.encode(np.stack(features))


def _per_token(score: float, tokens: int) -> float:
    """Return the average log probability per token; Whisper counts the end of text as a token, CTranslate2 does not."""
    return score * tokens / (tokens + 1)
