"""Recordings of every format, made of tones by FFmpeg's own encoders."""

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from typing import Any, cast

import av
import numpy as np
from av.container import OutputContainer
from av.stream import Disposition
from numpy.typing import NDArray

from tests.checkout import EXAMPLES

Samples = NDArray[np.float32]
CODECS = {
    "wav": "pcm_s16le",
    "mp3": "libmp3lame",
    "m4a": "aac",
    "flac": "flac",
    "ogg": "libopus",
    "opus": "libopus",
    "aac": "aac",
    "webm": "libopus",
    "mp4": "aac",
    "mkv": "aac",
}
"""An encoder for each of the endings that people know."""
NOTE = EXAMPLES / "library" / "reports" / "school-visit.m4a"
"""The voice note of the example library: 34 seconds of English."""
NOTE_WORD = "umbrella"
BRIEF_SECONDS = 10.15
"""Seconds of the note's beginning, for tests to which its length means nothing: three sentences, with `NOTE_WORD`."""
_CONTAINERS = {"m4a": "ipod", "aac": "adts", "mkv": "matroska", "mka": "matroska", "aiff": "aiff", "wma": "asf"}
_PICTURES_A_SECOND = 5
_OPUS_RATE = 48_000


def tone(frequency: float, seconds: float, rate: int = 16_000) -> Samples:
    """A sine, half as loud as can be: (n,) float32."""
    return (0.5 * np.sin(2 * np.pi * frequency * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


def main_frequency(samples: Samples, rate: int = 16_000) -> float:
    """The loudest frequency, in Hz."""
    return float(np.argmax(np.abs(np.fft.rfft(samples * np.hanning(len(samples)))))) * rate / len(samples)


def write_sound(
    path: str | os.PathLike[str],
    samples: Samples | None,
    *,
    codec: str | None = None,
    rate: int = 16_000,
    layout: str = "mono",
    tags: Mapping[str, str] | None = None,
    video: bool = False,
    options: Mapping[str, str] | None = None,
) -> None:
    """Write a recording; which container it is, the ending of its name says.

    Args:
        path: may hold bytes that are not UTF-8.
        samples: (n,) or (channels, n), at `rate`; None for none.
        codec: an encoder; the usual one of the container where it is left out.
        rate: samples a second.
        layout: such as mono, stereo, 5.1.
        tags: of the container.
        video: add moving pictures.
        options: of the container.
    """
    ending = os.fspath(path).rpartition(".")[2].lower()
    codec = codec or CODECS.get(ending, "pcm_s16le")
    with (
        open(path, "wb") as file,  # noqa: PTH123 - the name may hold bytes that are not UTF-8
        av.open(
            file,
            "w",
            format=_CONTAINERS.get(ending, ending),
            options={"strict": "experimental"},
            container_options=dict(options or {}),
        ) as container,
    ):
        container.metadata.update(tags or {})
        # Streams come before packets: the first packet writes the header.
        pictures = (
            container.add_stream("libvpx" if ending == "webm" else "mpeg4", rate=_PICTURES_A_SECOND) if video else None
        )
        sound = None
        if samples is not None:
            encoded_rate = _OPUS_RATE if codec == "libopus" else rate
            encoder = container.add_stream(codec, rate=encoded_rate, layout=layout, options={"strict": "experimental"})
            sound = cast("av.AudioStream", encoder)
        if pictures is not None:
            pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
            seconds = 2.0 if samples is None else samples.shape[-1] / rate
            for number in range(int(seconds * _PICTURES_A_SECOND)):
                picture = av.VideoFrame(64, 48, "yuv420p")
                for plane in picture.planes:
                    plane.update(bytes([number % 256]) * plane.buffer_size)
                picture.pts, picture.time_base = number, Fraction(1, _PICTURES_A_SECOND)
                container.mux(pictures.encode(picture))
            container.mux(pictures.encode(None))
        if sound is not None and samples is not None:
            channels = np.atleast_2d(samples)
            for first in range(0, channels.shape[1], rate):
                piece = np.ascontiguousarray(channels[:, first : first + rate], dtype=np.float32)
                frame = av.AudioFrame.from_ndarray(piece, format="fltp", layout=layout)
                frame.sample_rate, frame.pts = rate, None
                container.mux(sound.encode(frame))
            container.mux(sound.encode(None))


def copy_sound(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    tags: Mapping[str, str] | None = None,
    moved: Mapping[float, float] | None = None,
    options: Mapping[str, str] | None = None,
) -> None:
    """Write the same packets into another container.

    Args:
        source: a recording.
        target: what to write.
        tags: of the new container.
        moved: by how many seconds packets are moved that begin at this second or later.
        options: of the container.
    """
    ending = os.fspath(target).rpartition(".")[2].lower()
    form = _CONTAINERS.get(ending, ending)
    with av.open(source, "r") as old, av.open(target, "w", format=form, container_options=dict(options or {})) as new:
        new.metadata.update(tags or {})
        _copy_packets(old, new, moved or {})


def _copy_packets(old: av.container.InputContainer, new: OutputContainer, moved: Mapping[float, float]) -> None:
    stream = old.streams.audio[0]
    copied = new.add_stream_from_template(stream)
    for packet in old.demux(stream):
        if packet.dts is None or packet.pts is None:
            continue
        begin = float(packet.pts * packet.time_base)
        shift = sum(seconds for second, seconds in moved.items() if begin >= second)
        packet.pts += round(shift / packet.time_base)
        packet.dts += round(shift / packet.time_base)
        packet.stream = copied
        new.mux(packet)


def join_tracks(
    sources: Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    *,
    default: int = 1,
    chapters: Mapping[float, str] | None = None,
    subtitles: str | None = None,
) -> None:
    """Write the sound of several recordings as tracks of one.

    Args:
        sources: recordings with one track each.
        target: what to write.
        default: number of the default track, from 1.
        chapters: titles of chapters by the seconds at which they begin.
        subtitles: a track of Matroska that shows this text from second 0.5 to 1.5.
    """
    ending = os.fspath(target).rpartition(".")[2].lower()
    with ExitStack() as stack:
        new = stack.enter_context(av.open(target, "w", format=_CONTAINERS.get(ending, ending)))
        packets: list[tuple[float, int, av.Packet[Any], Any]] = []
        for number, source in enumerate(sources, 1):
            old = stack.enter_context(av.open(source, "r"))
            copied = new.add_stream_from_template(old.streams.audio[0])
            copied.disposition = Disposition.default if number == default else Disposition(0)
            packets += [
                (float(packet.dts * packet.time_base), number, packet, copied)
                for packet in old.demux(old.streams.audio[0])
                if packet.dts is not None
            ]
        if chapters:
            starts = [*chapters, 3600.0]
            new.set_chapters(
                [
                    {
                        "id": number,
                        "start": round(starts[number - 1] * 1000),
                        "end": round(starts[number] * 1000),
                        "time_base": Fraction(1, 1000),
                        "metadata": {"title": title},
                    }
                    for number, title in enumerate(chapters.values(), 1)
                ]
            )
        if subtitles is not None:
            shown = av.Packet(subtitles.encode())
            shown.pts, shown.dts, shown.duration, shown.time_base = 500, 500, 1000, Fraction(1, 1000)
            packets.append((0.5, len(sources) + 1, shown, new.add_mux_stream("subrip")))
        for _, _, packet, copied in sorted(packets, key=lambda one: one[:2]):
            packet.stream = copied
            new.mux(packet)
