"""Decode a recording into samples, at times that agree with a player's clock."""

from collections.abc import Iterator
from typing import Final

import av
import av.error
import numpy as np
from av import AudioFrame, AudioResampler, AudioStream, Packet
from numpy.typing import NDArray

from sourcebook.errors import FailureClass, RecordingError
from sourcebook.model.place import stamp
from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.container import Sound, open_sound

Samples = NDArray[np.float32]
"""Sound of one channel, (n,), or of several, (channels, n); `SAMPLE_RATE` samples a second, from -1 to 1."""

BLOCK_SECONDS: Final = 10
"""Seconds of a block of samples."""
_FORGIVEN_SECONDS: Final = 30.0
"""Seconds of damaged sound that are tolerated before the end of the recording is known."""
_FORGIVEN_PART: Final = 0.1
"""Part of a recording that may be damaged."""
_WITHOUT_STAMPS: Final = frozenset({"mp3", "aac", "ac3", "eac3", "dts", "amr"})
"""Formats of bare frames: FFmpeg counts their time stamps from the frames, so damaged bytes take no time."""
_GAPLESS: Final = "flac"
"""Container whose time stamps count samples: a gap in them is damage."""
_LAYOUTS: Final = ("mono", "stereo")
"""FFmpeg's names of the layouts of one channel and of two."""


def decode(place: str, *, start: float = 0.0) -> Iterator[Samples]:
    """Yield a recording's sound in blocks of ten seconds, the last one shorter: (n,) float32, mono, at SAMPLE_RATE.

    Decoding always begins at the start of the recording: the samples after `start` are bit for bit equal for every
    `start`. Gaps in the time stamps and damaged places become silence, so times agree with a player's clock.

    Args:
        place: path or URL; see `open_sound`.
        start: seconds, rounded to a sample.

    Raises:
        RecordingError: it cannot be opened, or more than a tenth of it is damaged.
    """
    with open_sound(place) as sound:
        yield from (block[0] for block in _blocks(sound, 1, start))


def decode_channels(place: str, *, start: float = 0.0, track: int | None = None) -> Iterator[Samples]:
    """Yield a recording's sound as `decode` does, (channels, n): the two channels of a stereo recording, else one mix.

    Args:
        place: path or URL; see `open_sound`.
        start: seconds, rounded to a sample.
        track: number of the stream of sound; see `open_sound`.

    Raises:
        RecordingError: it cannot be opened, or more than a tenth of it is damaged.
    """
    with open_sound(place, track) as sound:
        is_stereo = sound.stream.codec_context.layout.nb_channels == len(_LAYOUTS)
        yield from _blocks(sound, len(_LAYOUTS) if is_stereo else 1, start)


def _blocks(sound: Sound, channels: int, start: float) -> Iterator[Samples]:
    """Yield the samples after `start` in blocks."""
    skip = round(start * SAMPLE_RATE)
    size = BLOCK_SECONDS * SAMPLE_RATE
    block = np.empty((channels, size), np.float32)
    held = 0
    for piece in _mixed(sound, channels):
        rest = piece[:, skip:]
        skip -= min(skip, piece.shape[1])
        while rest.shape[1]:
            taken = rest[:, : size - held]
            block[:, held : held + taken.shape[1]] = taken
            held += taken.shape[1]
            rest = rest[:, taken.shape[1] :]
            if held == size:
                yield block
                block, held = np.empty((channels, size), np.float32), 0
    if held:
        yield block[:, :held]


def _mixed(sound: Sound, channels: int) -> Iterator[Samples]:
    mixer = _Mixer(channels)
    damage = _Damage()
    decoded = 0  # bytes
    for packet in _packets(sound):
        try:
            frames = packet.decode() if packet is not None else sound.stream.decode(None)
        except av.error.FFmpegError:
            if packet is not None:
                seconds = counted = sound.length(packet)
                if sound.format in _WITHOUT_STAMPS and decoded:
                    seconds = packet.size * mixer.timeline.end / decoded
                    mixer.timeline.leave_out(max(seconds - counted, 0.0))
                damage.add(mixer.timeline.end, seconds)
            continue
        decoded += packet.size if packet is not None else 0
        for frame in frames:
            gap = mixer.timeline.add(sound.seconds(frame.pts, frame.time_base), frame.samples / frame.sample_rate)
            if gap and sound.format == _GAPLESS:
                damage.add(mixer.timeline.end, gap)
            yield from mixer.mix(frame, gap)
    yield from mixer.rest()
    damage.settle(mixer.timeline.end)


def _packets(sound: Sound) -> "Iterator[Packet[AudioStream] | None]":
    """Yield the packets of sound, and at the end None, which flushes the decoder."""
    yield from (packet for packet in sound.packets() if sound.is_of_sound(packet))
    yield None


class _Damage:
    """The damaged part of a recording: a short place is tolerated, a tenth of the whole is not."""

    def __init__(self) -> None:
        self._lost = 0.0
        self._first: float | None = None

    def add(self, place: float, seconds: float) -> None:
        self._lost += seconds
        if self._first is None:
            self._first = place
        if self._lost > _FORGIVEN_SECONDS:
            self.settle(place + seconds)

    def settle(self, heard: float) -> None:
        """Raise `RecordingError` if too large a part of the sound so far was lost."""
        if self._first is not None and self._lost >= _FORGIVEN_PART * heard:
            raise RecordingError(
                f"its sound is damaged from {stamp(self._first)} on, {self._lost:.1f} seconds of it: "
                "copy or download it again, or save it again with another program",
                FailureClass.CORRUPT,
            )


class _Mixer:
    """Converts frames to one or two channels at `SAMPLE_RATE`; their format may change within a recording."""

    def __init__(self, channels: int) -> None:
        self.timeline = Timeline()
        self._channels = channels
        self._resampler: AudioResampler | None = None
        self._shape: tuple[str, str, int] | None = None

    def mix(self, frame: AudioFrame, gap: float) -> Iterator[Samples]:
        """Yield the samples that are complete; the rest of the frame follows with the next one.

        Args:
            frame: decoded frame.
            gap: seconds of silence before it.
        """
        shape = (frame.format.name, frame.layout.name, frame.sample_rate)
        if gap or shape != self._shape:
            yield from self.rest()
            yield from _silence(gap, self._channels)
            self._resampler = AudioResampler("fltp", _LAYOUTS[self._channels - 1], SAMPLE_RATE, frame_size=SAMPLE_RATE)
            self._shape = shape
        frame.pts = None  # or else the resampler would follow it, too
        if self._resampler is not None:
            yield from map(_array, self._resampler.resample(frame))

    def rest(self) -> Iterator[Samples]:
        """Flush the resampler."""
        resampler, self._resampler = self._resampler, None
        if resampler is not None:
            yield from map(_array, resampler.resample(None))


def _silence(seconds: float, channels: int) -> Iterator[Samples]:
    left = round(seconds * SAMPLE_RATE)
    while left > 0:
        size = min(left, BLOCK_SECONDS * SAMPLE_RATE)
        yield np.zeros((channels, size), np.float32)
        left -= size


def _array(frame: AudioFrame) -> Samples:
    # A NaN or an infinite number in a recording of floats would silence everything around it.
    return np.nan_to_num(frame.to_ndarray(), posinf=0.0, neginf=0.0).astype(np.float32, copy=False)


_TOLERANCE = 0.1
"""Seconds of tolerance for time stamps: they are rounded, and jitter after network transmission."""
_LONGEST_GAP = 3600.0
"""Seconds of the longest gap; beyond it, the time stamps are broken."""


class Timeline:
    """The length of the sound so far, with gaps in the time stamps counted as silence.

    Time stamps that go back are not followed: no sound is thrown away.
    """

    def __init__(self) -> None:
        self.end = 0.0
        """Seconds of sound so far."""
        self._offset = 0.0

    def add(self, begin: float | None, seconds: float) -> float:
        """Append sound.

        Args:
            begin: seconds on a player's clock; None without a time stamp.
            seconds: length of the sound.

        Returns:
            Seconds of silence before it.
        """
        gap = 0.0 if begin is None else begin - self._offset - self.end
        if gap > _LONGEST_GAP:
            self._offset += gap
        if not _TOLERANCE < gap <= _LONGEST_GAP:
            gap = 0.0
        self.end += gap + seconds
        return gap

    def leave_out(self, seconds: float) -> None:
        """Count a lost part that the time stamps leave out as silence before the next sound."""
        self._offset -= seconds
