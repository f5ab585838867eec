"""The interface of speech engines, and the identity of a collection's engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import SpeechError
from sourcebook.model import revisions
from sourcebook.speech.weights import find_weights

if TYPE_CHECKING:
    from sourcebook.speech.decoding import Samples

LONGEST_PIECE = 30.0
"""Seconds of the longest piece, which Whisper transcribes at once."""
LANGUAGE_SECONDS = 4.0
"""Seconds of speech that its language is detected in; of four, Whisper tells it as surely as of thirty."""
LANGUAGE_CONTEXT = 5.0
"""Seconds that the encoder sees for it, the rest silence: a sixth of its time for thirty."""
BEAMS = 5
"""Beams of the beam search, as in Whisper; greedy decoding was much worse in languages other than English."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its time, in seconds from the beginning of its piece."""

    text: str
    """Text with the white space before it, if the language writes any."""
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Heard:
    """An engine's transcript of one piece of sound."""

    words: tuple[Word, ...]
    end: float
    """Seconds of the piece that were transcribed; Whisper may stop early."""
    average_log_probability: float
    """Average natural logarithm of the tokens' probabilities."""
    no_speech_probability: float
    compression_ratio: float
    """Length of the text divided by its length after zlib; a repetitive text has a high ratio."""


class Engine(Protocol):
    """A loaded Whisper model. For one thread."""

    def detect_languages(self, sounds: Sequence[Samples]) -> list[dict[str, float]]:
        """Return the probability of each language, by Whisper's code, for each sound.

        Args:
            sounds: sounds of which the first `LANGUAGE_SECONDS` seconds count, 16 kHz, one channel.
        """

    def transcribe(self, pieces: Sequence[Samples], language: str, *, again: bool = False) -> list[Heard]:
        """Return a transcript of each piece.

        Args:
            pieces: sounds of at most `LONGEST_PIECE` seconds, 16 kHz, one channel.
            language: whisper's code of the language.
            again: whether this is the second try; it decodes in another way, which is deterministic, too.
        """


def engine_identity(settings: SpeechSettings) -> str:
    """Return the identity of engine, weights, decoding options and language, which a transcript depends on.

    The version of an engine's package is left out on purpose: a patch release would cost hours, and changes nothing.
    A model that cannot be found has an identity, too: failures are recorded under it.
    """
    try:
        weights = find_weights(settings.model).identity
    except SpeechError:
        weights = f"{settings.model} missing"
    return f"{settings.engine}/{revisions.DECODING}+{weights}+{settings.language}"
