"""What every speech engine does, and which one a collection asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import SpeechError
from sourcebook.speech.weights import find_weights

if TYPE_CHECKING:
    from sourcebook.speech.samples import Samples

LONGEST_PIECE = 30.0
"""Seconds that Whisper hears at once."""
BEAMS = 5
"""Of a beam search: Whisper's own choice; greedy decoding was much worse in languages other than English."""
_REVISION = 1
"""Count it up when the same sound may give another text: another option, another way to cut, another threshold."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word and when it is spoken, in seconds from the beginning of its piece."""

    text: str
    """With the white space before it, where its language writes any."""
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Heard:
    """What an engine made of one piece of sound."""

    words: tuple[Word, ...]
    end: float
    """Seconds from the beginning of the piece up to which it was heard; Whisper may end early."""
    average_log_probability: float
    """Of its tokens, natural logarithm."""
    no_speech_probability: float
    compression_ratio: float
    """Of its text by zlib: where it is high, the text repeats itself."""


class Engine(Protocol):
    """A loaded Whisper model. For one thread."""

    def detect_language(self, pieces: "Sequence[Samples]") -> dict[str, float]:
        """Return how probable each language is, averaged over the pieces by their length."""

    def transcribe(self, pieces: "Sequence[Samples]", language: str, *, again: bool = False) -> list[Heard]:
        """Return what is said in each piece.

        Args:
            pieces: of at most `LONGEST_PIECE` seconds, 16 kHz, one channel.
            language: Whisper's code.
            again: whether the first text was no good; then another way is taken, the same one each time.
        """


def engine_identity(settings: SpeechSettings) -> str:
    """Return what a transcript depends on beside the sound: engine, weights, decoding options, language.

    The version of an engine's package is left out on purpose: a patch release would cost hours, and changes nothing.
    Cannot fail: a model that cannot be found has an identity, too, under which that is recorded.
    """
    try:
        weights = find_weights(settings.model).identity
    except SpeechError:
        weights = f"{settings.model} missing"
    return f"{settings.engine}/{_REVISION}+{weights}+{settings.language}"
