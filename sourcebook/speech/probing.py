"""Describe a recording, decoding no more than its beginning."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

import av
import av.error
from av import AudioStream, Packet

from sourcebook.errors import FailureClass, RecordingError
from sourcebook.model.document import JsonValue
from sourcebook.model.place import stamp
from sourcebook.model.transcript import Recording
from sourcebook.speech.container import Sound, open_sound
from sourcebook.speech.decoding import Timeline

_TRIED_SECONDS: Final = 3.0
"""Seconds that are decoded to check that the sound can be decoded."""
_HOPELESS_SECONDS: Final = 30.0
"""Seconds without one decoded frame after which decoding is given up."""
_SLOPPY_SECONDS: Final = 2.0
"""Seconds by which containers exaggerate their length."""
_SLOPPY_PART: Final = 0.005
"""Part of the length by which containers exaggerate it."""
_KEEP_THEIR_WORD: Final = frozenset({"matroska", "flac", "w64", "asf", "avi", "flv", "aiff", "caf"})
"""Containers that state their length, in addition to those below; FFmpeg guesses the length of the others."""
_KNOWN_AS: Final = {"mov": "mp4", "asf": "wma", "mpegts": "mpeg-ts"}
_MOST_CHAPTERS: Final = 1000
"""Chapters that are kept."""
_LONGEST_TITLE: Final = 200
"""Characters of a chapter's title that are kept."""
_LONGEST_TAG: Final = 1000
"""Characters of a tag that are kept."""


def probe(place: str, *, max_hours: float) -> Recording:
    """Read a recording once, in little memory, and return its description; of several tracks, the one with speech.

    Args:
        place: path or URL; see `open_sound`.
        max_hours: longest recording that is accepted, in hours.

    Raises:
        RecordingError: it is no recording, holds no sound that can be decoded, ends too early, or is too long.
    """
    with open_sound(place) as sound:
        usual, tracks = sound.track, sound.tracks
        if tracks == 1:
            return _described(sound, max_hours)
    from sourcebook.speech.channels import spoken_track  # few recordings need the detection of speech here

    track = spoken_track(place, usual=usual, tracks=tracks, most_seconds=max_hours * 3600)
    with open_sound(place, track) as sound:
        return _described(sound, max_hours)


def _described(sound: Sound, max_hours: float) -> Recording:
    survey = _Survey(sound)
    duration = round(survey.timeline.end, 3)
    promised = _promised(sound, survey)
    ends = duration if sound.format == "mov" else max(survey.last, duration)
    if promised is not None and promised - ends > max(_SLOPPY_SECONDS, _SLOPPY_PART * promised):
        raise RecordingError(
            f"it ends at {stamp(ends)} of {stamp(promised)}: copy or download it again", FailureClass.CORRUPT
        )
    if not duration:
        raise RecordingError("there is no sound in it: its length is zero", FailureClass.EMPTY)
    if not survey.heard:
        raise RecordingError(
            f"its sound ({sound.codec}) cannot be decoded: it is damaged or protected; "
            "copy it again, or save it as .mp3 or .flac with another program",
            FailureClass.CORRUPT,
        )
    if duration > max_hours * 3600:
        raise RecordingError(
            f"it is {duration / 3600:.1f} hours long, more than speech.max_hours allows ({max_hours:g}): "
            "cut it into parts, or allow more",
            FailureClass.TOO_LARGE,
        )
    tags = _tags(sound)
    return Recording(survey.digest, duration, tags.get("title"), _metadata(sound, survey, duration, tags))


class _Survey:
    """The findings of one pass over the packets."""

    def __init__(self, sound: Sound) -> None:
        self.timeline = Timeline()
        self.last = 0.0
        """Seconds at the end of the last packet of any stream."""
        self.size = 0
        self.first_position: int | None = None
        self.heard = 0.0
        self._is_tried = False
        self._skip = 0.0
        """Seconds of encoder delay at the beginning, which players skip."""
        self._sound = sound
        self._digest = hashlib.sha256(_decoder_key(sound))
        for packet in sound.packets():
            begin = sound.seconds(packet.pts, packet.time_base)
            seconds = sound.length(packet)
            self.last = max(self.last, (begin or 0.0) + seconds)
            if sound.is_of_sound(packet):
                self._add(packet, begin, seconds)
        if not self.heard:
            self._try(None)

    @property
    def digest(self) -> bytes:
        return self._digest.digest()

    def _add(self, packet: "Packet[AudioStream]", begin: float | None, seconds: float) -> None:
        self._digest.update(packet)
        self.size += packet.size
        if self.first_position is None:
            self.first_position = packet.pos
        rate = self._sound.stream.codec_context.sample_rate
        if rate and packet.has_sidedata("skip_samples"):
            skipped = bytes(packet.get_sidedata("skip_samples"))
            self._skip = int.from_bytes(skipped[:4], "little") / rate
            if self._sound.format == "mp3":  # others' packets are already shorter by what is cut off at the end
                seconds -= int.from_bytes(skipped[4:8], "little") / rate
        before = max(min(self._skip, seconds), 0.0)
        self._skip -= before
        if begin is not None:
            begin += before
        seconds = max(seconds - before, 0.0)
        self.timeline.add(begin, seconds)
        if not self._is_tried:
            self._try(packet)

    def _try(self, packet: "Packet[AudioStream] | None") -> None:
        """Decode a packet; None flushes the decoder."""
        with suppress(av.error.FFmpegError):
            frames = self._sound.stream.decode(packet)
            self.heard += sum(frame.samples / frame.sample_rate for frame in frames)
        self._is_tried = self.heard > _TRIED_SECONDS or self.timeline.end > _HOPELESS_SECONDS


def _decoder_key(sound: Sound) -> bytes:
    """Return the decoder's parameters, which belong to the identity of the sound."""
    context = sound.stream.codec_context
    extra = context.extradata or b""
    if sound.codec == "vorbis":
        extra = _without_comments(extra)
    return repr((sound.codec, context.sample_rate, context.layout.nb_channels, extra)).encode()


def _without_comments(headers: bytes) -> bytes:
    """Return Vorbis's three headers, Xiph-laced, without the second: it holds the tags."""
    sizes: list[int] = []
    place = 1
    while headers[:1] == b"\x02" and len(sizes) < 2 and place < len(headers):
        size = 0
        while place < len(headers):
            size += headers[place]
            place += 1
            if headers[place - 1] != 255:
                break
        sizes.append(size)
    return headers if len(sizes) < 2 else headers[place : place + sizes[0]] + headers[place + sum(sizes) :]


def _promised(sound: Sound, survey: _Survey) -> float | None:
    """Return the length in seconds that the container states; None if it states none."""
    if sound.format == "mov":
        length = sound.stream.duration
        return None if length is None or sound.stream.time_base is None else float(length * sound.stream.time_base)
    if sound.container.duration is None:
        return None
    seconds = sound.container.duration / av.time_base
    head = sound.file.head
    if sound.format == "wav" and head[:4] == b"RIFF":
        size = int.from_bytes(head[4:8], "little") + 8
        # FFmpeg takes the shorter of the two. A header written before the end was known says 0 or the most.
        return seconds * size / sound.file.size if sound.file.size < size < 0xFFFFFF00 else seconds
    if sound.format == "mp3":
        return seconds if _counts_frames(sound, survey) else None
    return seconds if sound.format in _KEEP_THEIR_WORD else None


def _counts_frames(sound: Sound, survey: _Survey) -> bool:
    """Return whether an MP3 file's first frame states the number of frames."""
    position = survey.first_position or 0
    begin = max(position - 4096, 0)
    sound.file.seek(begin)
    frame = sound.file.read(position - begin)
    return any(mark in frame for mark in (b"Xing", b"Info", b"VBRI"))


def _tags(sound: Sound) -> Mapping[str, str]:
    """Return the tags of the container and of the stream by their names in lower case, each in one line."""
    found: dict[str, str] = {}
    for name, text in _all_tags(sound):
        if line := _line(text)[:_LONGEST_TAG]:
            found.setdefault(name.lower(), line)
    return found


def _line(text: str) -> str:
    """Return a text on one line, without characters that cannot be printed."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _all_tags(sound: Sound) -> Iterator[tuple[str, str]]:
    yield from sound.container.metadata.items()
    yield from sound.stream.metadata.items()


def _chapters(sound: Sound, duration: float) -> list[JsonValue]:
    """Return the start in seconds and the title of each chapter that has one: of MP4, Matroska, Ogg, and ID3 tags."""
    found: list[tuple[float, str]] = []
    for chapter in sound.container.chapters():
        start = float(chapter["start"] * (chapter["time_base"] or 0))
        title = _line(chapter["metadata"].get("title", ""))[:_LONGEST_TITLE]
        if title and 0 <= start < duration:
            found.append((round(start, 3), title))
    return [{"start_seconds": start, "title": title} for start, title in sorted(found)[:_MOST_CHAPTERS]]


def _metadata(sound: Sound, survey: _Survey, duration: float, tags: Mapping[str, str]) -> dict[str, JsonValue]:
    context = sound.stream.codec_context
    is_webm = sound.format == "matroska" and b"webm" in sound.file.head[:64]
    found: dict[str, JsonValue] = {
        "duration_seconds": duration,
        "container": "webm" if is_webm else _KNOWN_AS.get(sound.format, sound.format),
        "codec": sound.codec,
        "sample_rate": context.sample_rate,
        "channels": context.layout.nb_channels,
        "bit_rate": round(survey.size * 8 / duration),
    }
    if sound.has_video():
        found["has_video"] = True
    if sound.tracks > 1:
        found |= {"sound_tracks": sound.tracks, "sound_track": sound.track}
    if chapters := _chapters(sound, duration):
        found["chapters"] = chapters
    if subtitles := len(sound.container.streams.subtitles):
        found["subtitle_tracks"] = subtitles
    dates = {"date": tags["year"]} if "year" in tags else {}
    return found | {name: text for name, text in (dates | dict(tags)).items() if name in {"artist", "album", "date"}}
