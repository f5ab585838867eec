"""Choose the track of a recording that is transcribed: the first one that somebody speaks in."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

import numpy as np

from sourcebook.errors import RecordingError
from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.channels import tracks_of
from sourcebook.speech.decoding import Samples, decode_channels
from sourcebook.speech.pieces import merged

_PART: Final = 60 * SAMPLE_RATE
"""Samples in which speech is looked for at once."""
_CERTAIN: Final = SAMPLE_RATE // 2
"""Samples of the shortest span that counts as speech: in five tracks of music no span was longer than 0.1 s."""
_ENOUGH: Final = 3 * SAMPLE_RATE
"""Samples of speech from which a track is one that somebody speaks in."""


def spoken_track(place: str, *, usual: int, tracks: int, most_seconds: float) -> int:
    """Return the number of the first track with speech, from 1; the usual one if it has some, or none has.

    A track is decoded up to three seconds of speech: of films and talks little is, of a silent track all.

    Args:
        place: Path or URL; see `open_sound`.
        usual: Number of the track that a player would play.
        tracks: Number of tracks.
        most_seconds: Seconds of the recording in which speech is looked for.
    """
    others = (number for number in range(1, tracks + 1) if number != usual)
    for track in chain((usual,), others):
        if _is_spoken(place, track, round(most_seconds * SAMPLE_RATE)):
            return track
    return usual


def _is_spoken(place: str, track: int, most: int) -> bool:
    spoken = position = 0
    try:
        for part in _parts(place, track):
            if part.any():
                speech = merged(one.speech for one in tracks_of(part))
                lengths = [span.end - span.start for span in speech]
                spoken += sum(length for length in lengths if length >= _CERTAIN)
            position += part.shape[1]
            if spoken >= _ENOUGH or position >= most:
                break
    except RecordingError:  # of a track that cannot be decoded, what was heard up to there counts
        pass
    return spoken >= _ENOUGH


def _parts(place: str, track: int) -> Iterator[Samples]:
    """Yield the sound of a track in parts of a minute."""
    waiting: list[Samples] = []
    for block in decode_channels(place, track=track):
        waiting.append(block)
        if sum(one.shape[1] for one in waiting) >= _PART:
            yield np.concatenate(waiting, axis=1)
            waiting = []
    if waiting:
        yield np.concatenate(waiting, axis=1)
