"""Open a recording with FFmpeg, through PyAV: its container, and the stream of sound in it."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, cast

import av
import av.error
import av.logging
from av import AudioStream, Packet
from av.container import InputContainer
from av.stream import Discard, Disposition

from sourcebook.errors import FailureClass, RecordingError, failure_class_of
from sourcebook.parsing.media_type import HEAD_BYTES, looks_like_text

_FORMATS: Final = (
    "aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dts,eac3,flac,flv,matroska,mov,mp3,mpeg,mpegts,ogg,tta,w64,wav,wv"
)
"""FFmpeg's names of containers for sound. Playlists are excluded: FFmpeg would open the files and URLs they name."""
_BUFFER: Final = 1 << 18
"""Bytes that FFmpeg reads at once."""
_FIRST_CHUNK: Final = 12
"""Place of the first chunk in a WAV file."""
_CHUNK: Final = re.compile(rb"[\w ]{3,4}", re.ASCII)
"""Name of a chunk of a WAV file, some programs end it with a zero byte."""
_INDEXED: Final = "mov"
"""Container with an index of each stream: a film's pictures need not be read."""
_WRAPPED: Final = 1 << 31
"""Time stamp units from which a packet's length has wrapped below zero."""
_PROTECTED: Final = frozenset({"drms", "enca", "aavd"})
"""Codec tags of protected MP4 files: FairPlay, Common Encryption, Audible."""
_NO_CODEC: Final = re.compile(r"Audio: (\w+) \(([^/)]*)(?:/ (0x[0-9A-Fa-f]+))?\)")
_ANOTHER_PROGRAM: Final = "save it as .mp3 or .flac with another program"


@dataclass(frozen=True, slots=True)
class Sound:
    """An open recording, and one stream of sound in it."""

    container: InputContainer
    stream: AudioStream
    file: "_File"

    @property
    def format(self) -> str:
        """First of FFmpeg's names of the container."""
        return self.container.format.name.split(",", 1)[0]

    @property
    def tracks(self) -> int:
        """Number of streams of sound."""
        return len(self.container.streams.audio)

    @property
    def track(self) -> int:
        """Number of the stream among those of sound, from 1."""
        return 1 + [stream.index for stream in self.container.streams.audio].index(self.stream.index)

    @property
    def codec(self) -> str:
        """FFmpeg's name of the codec, whichever decoder reads it."""
        return self.stream.codec_context.codec.canonical_name

    def seconds(self, stamp: int | None, time_base: Any) -> float | None:
        """Return a player's clock in seconds at a time stamp; it is 0 where the first stream begins."""
        return None if stamp is None else float(stamp * time_base) - (self.container.start_time or 0) / av.time_base

    def packets(self) -> "Iterator[Packet[AudioStream]]":
        """Yield the packets of every stream that is read, none empty, up to the first damage of the container."""
        try:
            for packet in self.container.demux():
                if packet.size:
                    yield cast("Packet[AudioStream]", packet)
        except av.error.FFmpegError:
            if self.file.error is not None:
                raise

    def length(self, packet: "Packet[Any]") -> float:
        """Return the length of a packet in seconds; 0 if unknown."""
        duration = packet.duration or 0
        # FFmpeg's Ogg reader lets the last one wrap below zero.
        return float(duration * packet.time_base) if 0 < duration < _WRAPPED else 0.0

    def is_of_sound(self, packet: "Packet[Any]") -> bool:
        """Return whether a packet belongs to the stream of sound."""
        return packet.stream_index == self.stream.index

    def has_video(self) -> bool:
        """Return whether there are moving pictures, not only a cover."""
        return any(not stream.disposition & Disposition.attached_pic for stream in self.container.streams.video)


@contextmanager
def open_sound(place: str, track: int | None = None) -> Iterator[Sound]:
    """Open a recording; FFmpeg is kept from writing to stderr.

    Args:
        place: local path, with bytes outside UTF-8 as `os.fsdecode` gives them, or a URL that fsspec opens.
        track: number of the stream of sound, from 1; None for the one that a player would play.

    Raises:
        RecordingError: it cannot be read, is no recording, or its sound cannot be decoded.
    """
    av.logging.set_level(None)
    file: _File | None = None
    try:
        file = _File(place)
        options = {"format_whitelist": _FORMATS} | ({"ignore_length": "1"} if file.has_more_sound() else {})
        with av.open(file, "r", metadata_errors="replace", options=options, buffer_size=_BUFFER) as container:
            sound = Sound(container, _stream(container, track), file)
            if sound.format == _INDEXED:
                for stream in container.streams:
                    stream.discard = Discard.default if stream.index == sound.stream.index else Discard.all
            yield sound
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise _recording_error(file, error) from error
    finally:
        if file is not None:
            file.close()


class _File:
    """A file for FFmpeg: without its name, which proves nothing, and with the last error of its store."""

    def __init__(self, place: str) -> None:
        self.error: Exception | None = None
        self._file = _open(place)
        try:
            self.size = self._file.seek(0, os.SEEK_END)
            self._file.seek(0)
            self.head = self._file.read(HEAD_BYTES)
            self._file.seek(0)
        except Exception as error:
            self._file.close()
            raise RecordingError(_cannot_be_read(error), failure_class_of(error)) from error

    def has_more_sound(self) -> bool:
        """Return whether a WAV file goes on behind the sound that its header counts, as of a recorder cut off."""
        place = _FIRST_CHUNK
        while self.head[:4] == b"RIFF" and place + 8 <= len(self.head):
            name, size = self.head[place : place + 4], int.from_bytes(self.head[place + 4 : place + 8], "little")
            place += 8 + size + size % 2
            if name == b"data":
                self._file.seek(place)
                behind = self._file.read(_BUFFER) if size > 0 and place < self.size else b""
                self._file.seek(0)
                return any(behind) and _CHUNK.match(behind) is None
        return False

    def read(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except Exception as error:
            self.error = error
            raise

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()


def _open(place: str) -> BinaryIO:
    try:
        if "://" not in place:
            return open(place, "rb")  # noqa: PTH123 - the path may hold bytes that are not UTF-8
        import fsspec

        return cast("BinaryIO", fsspec.open(place, "rb").open())
    except FileNotFoundError:
        raise RecordingError("it vanished between listing and reading", FailureClass.MISSING) from None
    except Exception as error:  # whatever the store's library raises
        raise RecordingError(_cannot_be_read(error), failure_class_of(error)) from error


def _stream(container: InputContainer, track: int | None) -> AudioStream:
    """Return a stream of sound by its number; without one the default stream, or the first if none is the default."""
    streams = container.streams.audio
    if not streams:
        raise RecordingError("there is no sound in it: it holds pictures only", FailureClass.EMPTY)
    # For a codec that FFmpeg does not know, PyAV has no context, whatever its types say.
    known = [stream for stream in streams if cast("object", stream.codec_context) is not None]
    if not known:
        raise RecordingError(
            f"its codec ({_unknown_codec(container)}) is not supported: {_ANOTHER_PROGRAM}", FailureClass.UNSUPPORTED
        )
    usual = next((stream for stream in known if stream.disposition & Disposition.default), known[0])
    stream = next((one for number, one in enumerate(streams, 1) if number == track and one in known), usual)
    if stream.codec_context.codec_tag in _PROTECTED:
        raise RecordingError("it is protected (DRM): export it without protection", FailureClass.PASSWORD)
    return stream


def _unknown_codec(container: InputContainer) -> str:
    """Return the name of a codec without a decoder: FFmpeg's name, or the tag in the file."""
    av.logging.set_level(av.logging.INFO)  # or else there is nothing to dump; it goes into the string only
    found = _NO_CODEC.search(container.dumps_format())  # type: ignore[attr-defined] # not in its stubs
    av.logging.set_level(None)
    if found is None:
        return "unknown"
    name, mark, number = found.groups()
    return name if name != "none" else (number if number and "[" in mark else mark.strip()) or "unknown"


def _recording_error(file: _File | None, error: Exception) -> RecordingError:
    """Return why a recording could not be opened or read."""
    if file is None or file.error is not None:
        cause = error if file is None or file.error is None else file.error
        return RecordingError(_cannot_be_read(cause), failure_class_of(cause))
    if file.size == 0:
        return RecordingError("it is empty (0 bytes): copy or download it again", FailureClass.EMPTY)
    if looks_like_text(file.head):
        return RecordingError(
            "it is no recording but text, whatever its name says: give it a name that ends with .txt, or remove it",
            FailureClass.UNSUPPORTED,
        )
    if file.head[4:8] == b"ftyp":
        reason = "its index is missing or damaged, as where a download was broken off: copy or download it again"
    else:
        reason = f"it is no recording that can be read, or it is damaged: copy it again, or {_ANOTHER_PROGRAM}"
    return RecordingError(reason, FailureClass.CORRUPT)


def _cannot_be_read(error: Exception) -> str:
    said = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return f"it cannot be read: {said}; the next run tries again"
