"""Tell whether the two channels of a recording hold different speakers, and which track is spoken."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sourcebook.errors import RecordingError
from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.decoding import Samples, decode_channels
from sourcebook.speech.pieces import Span, merged, speech_in

_FRAME: Final = SAMPLE_RATE // 20
"""Samples of a frame, whose loudness is one number."""
_QUIET: Final = 12.0
"""Decibels below the loudness of a channel's speech from which a frame may be its noise."""
_OWN: Final = 10.0
"""Decibels by which a channel must be louder than the other one, each measured against its own speech."""
_OWN_PART: Final = 0.3
"""Part of a channel's loud speech that must be its own."""
_OWN_SECONDS: Final = 1.0
"""Seconds of its own speech that a channel must have."""
_DELAY: Final = 10
"""Frames of the longest delay between two channels with one sound: half a second."""
_ALIKE: Final = 0.6
"""Correlation of the loudness of two channels from which they have one sound."""
_PEAK: Final = 0.5
"""Peak that a quieter channel is amplified to: voice activity detection misses faint speech."""
_FAINT: Final = 0.01
"""Peak of a mix that is amplified if no speech is found in it: 40 decibels below the loudest."""
_GAIN: Final = 100.0
"""Largest factor by which a channel is amplified."""
_CANCELLED: Final = 1 / 16
"""Part of the loudest channel's power below which a mix is no use; with a silent other channel it has a quarter."""
_RANGE: Final = 30.0
"""Decibels below the loudness of speech that count as silence."""


class Track(NamedTuple):
    """A sound to transcribe."""

    channel: int | None
    """1 for the left and 2 for the right channel; None for both together."""
    samples: Samples
    """Sound of one channel, (n,)."""
    speech: list[Span]
    """Spans of speech in it."""


def tracks_of(sound: Samples) -> list[Track]:
    """Return each channel of a stereo sound whose channels hold different speakers; otherwise the mix of all.

    Speech of one channel that is heard faintly in the other one belongs to the first alone.

    Args:
        sound: one channel or two, (channels, n).
    """
    apart = _apart(sound) if len(sound) > 1 else []
    if apart:
        return apart
    mix = _mixed(sound)
    speech = speech_in(mix)
    if not speech and float(np.abs(mix).max(initial=0.0)) < _FAINT:
        louder = _amplified(mix)
        if found := speech_in(louder):
            return [Track(None, louder, found)]
    return [Track(None, mix, speech)]


def _mixed(sound: Samples) -> Samples:
    """Return the mean of the channels; the loudest alone where they cancel each other out, one being inverted."""
    mix: Samples = sound.mean(axis=0, dtype=np.float32)
    power = np.square(sound, dtype=np.float64).sum(axis=1)
    if float(np.square(mix, dtype=np.float64).sum()) < _CANCELLED * float(power.max()):
        mix = sound[int(power.argmax())]
    return mix


def _apart(sound: Samples) -> list[Track]:
    """Return a track a channel; none if the channels have one sound, or one of them has no speech."""
    if np.array_equal(*sound):
        return []
    sound = np.stack([_amplified(channel) for channel in sound])
    speech = [speech_in(channel) for channel in sound]
    if not all(speech):
        return []
    loudness = [_above_speech(channel, spans) for channel, spans in zip(sound, speech, strict=True)]
    if _correlation(*loudness) > _ALIKE:
        return []
    tracks = []
    for number, (channel, spans) in enumerate(zip(sound, speech, strict=True)):
        lead = loudness[number] - loudness[1 - number]
        is_loud = _within(spans, len(lead)) & (loudness[number] > -_QUIET)
        own = int((is_loud & (lead > _OWN)).sum())
        if own * _FRAME < _OWN_SECONDS * SAMPLE_RATE or own < _OWN_PART * is_loud.sum():
            return []
        kept = [span for span in spans if not _is_of_the_other(lead, span)]
        tracks.append(Track(number + 1, channel, kept))
    return tracks


def _amplified(channel: Samples) -> Samples:
    peak = float(np.abs(channel).max(initial=0.0))
    return channel * np.float32(min(_PEAK / peak, _GAIN)) if 0 < peak < _PEAK else channel


def _above_speech(channel: Samples, speech: Sequence[Span]) -> NDArray[np.float64]:
    """Return the loudness of each frame in decibels, 0 for the loudness of the channel's speech."""
    frames = channel[: len(channel) // _FRAME * _FRAME].reshape(-1, _FRAME)
    loudness = 10 * np.log10(np.square(frames, dtype=np.float64).mean(axis=1) + 1e-12)
    spoken = loudness[_within(speech, len(loudness))]
    return np.asarray(loudness - (np.percentile(spoken, 80) if len(spoken) else 0.0))


def _within(speech: Sequence[Span], frames: int) -> NDArray[np.bool_]:
    """Return for each frame whether it is speech."""
    spoken = np.zeros(frames, np.bool_)
    for span in speech:
        spoken[span.start // _FRAME : span.end // _FRAME] = True
    return spoken


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the largest correlation of the loudness of two channels, over delays of one against the other."""
    first, second = (np.clip(loudness, -_RANGE, None) for loudness in (one, other))
    best = 0.0
    for delay in range(-_DELAY, _DELAY + 1):
        head, tail = first[max(delay, 0) :], second[max(-delay, 0) :]
        length = min(len(head), len(tail))
        if length > 1 and head[:length].std() and tail[:length].std():
            best = max(best, float(np.corrcoef(head[:length], tail[:length])[0, 1]))
    return best


def _is_of_the_other(lead: NDArray[np.float64], span: Span) -> bool:
    """Return whether a span of speech is the other channel's, faintly heard."""
    within = lead[span.start // _FRAME : max(span.end // _FRAME, span.start // _FRAME + 1)]
    return bool(len(within)) and float(np.median(within)) < -_OWN


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
        place: path or URL; see `open_sound`.
        usual: number of the track that a player would play.
        tracks: number of tracks.
        most_seconds: seconds of the recording in which speech is looked for.
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
