"""What a recording is, told from its packets; and why it is none."""

import os
import struct
import wave
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("av", reason="needs the extra speech")

import av

from sourcebook.errors import RecordingError
from sourcebook.model.transcript import Recording
from sourcebook.speech.probing import probe
from tests.sounds import CODECS, copy_sound, join_tracks, tone, write_sound

TAGS = {"title": "A talk", "artist": "Ann Example", "album": "Talks", "date": "2024"}
CONTAINERS = {"m4a": "mp4", "opus": "ogg", "mkv": "matroska"}


def _probe(path: Path, max_hours: float = 10.0) -> Recording:
    return probe(str(path), max_hours=max_hours)


@pytest.mark.parametrize("ending", CODECS)
def test_every_format_is_told(tmp_path: Path, ending: str) -> None:
    """Length, container, codec, rate, channels, bit rate, and the tags where the format has any."""
    path = tmp_path / f"talk.{ending}"
    has_video = ending in {"webm", "mp4", "mkv"}
    write_sound(path, tone(1000, 5, 48_000), rate=48_000, layout="mono", tags=TAGS, video=has_video)
    found = _probe(path)
    assert found.duration == pytest.approx(5, abs=0.1)
    expected = {"duration_seconds": found.duration, "container": CONTAINERS.get(ending, ending), "channels": 1}
    expected |= {"sample_rate": 48_000, "codec": CODECS[ending].removeprefix("lib").removesuffix("lame")}
    if has_video:
        expected["has_video"] = True
    if ending != "aac":
        expected |= {name: text for name, text in TAGS.items() if name != "title"}
        assert found.title == "A talk"
    bit_rate = found.metadata["bit_rate"]
    assert isinstance(bit_rate, int)
    assert found.metadata == expected | {"bit_rate": bit_rate}
    assert 0 < bit_rate / 8 * found.duration <= path.stat().st_size + 1


def test_several_sound_tracks_are_counted(tmp_path: Path) -> None:
    """One is transcribed; that there are others is told."""
    one, two = tmp_path / "one.wav", tmp_path / "two.mkv"
    write_sound(one, tone(500, 2))
    with av.open(one) as old, av.open(two, "w") as new:
        copies = [new.add_stream_from_template(old.streams.audio[0]) for _ in range(2)]
        for packet in old.demux(old.streams.audio[0]):
            for copy in copies:
                if packet.dts is not None:
                    packet.stream = copy
                    new.mux(packet)
    assert _probe(two).metadata["sound_tracks"] == 2
    assert "sound_tracks" not in _probe(one).metadata


@pytest.mark.parametrize(
    ("behind", "seconds"), [(b"", 5), (b"LIST\x04\0\0\0INFO", 2), (b"ID3 \x04\0\0\0none", 2), (b"\0" * 9000, 2)]
)
def test_sound_that_a_header_does_not_count_is_heard(tmp_path: Path, behind: bytes, seconds: float) -> None:
    """A recorder that was cut off wrote an early length; other chunks, and zeros, are no sound."""
    path = tmp_path / "cut.wav"
    write_sound(path, tone(500, 5))
    content = bytearray(path.read_bytes())
    place = content.index(b"data") + 4
    content[place : place + 4] = struct.pack("<I", 2 * 32_000)
    end = place + 4 + 2 * 32_000
    content = content[:end] + behind if behind else content
    content[4:8] = struct.pack("<I", len(content) - 8)
    path.write_bytes(content)
    assert _probe(path).duration == pytest.approx(seconds, abs=0.01)


@pytest.mark.parametrize("ending", [*CODECS, "vorbis.ogg"])
def test_the_same_sound_with_other_tags_is_the_same(tmp_path: Path, ending: str) -> None:
    """Tags and names are no part of the sound; another sound is another one."""
    codec = "vorbis" if ending == "vorbis.ogg" else None
    places = [tmp_path / f"{number}.{ending}" for number in range(3)]
    for path, tags, frequency in zip(places, ({}, TAGS | {"comment": "x" * 700}, TAGS), (500, 500, 501), strict=True):
        samples = tone(frequency, 2, 48_000)
        if codec is None:
            write_sound(path, samples, rate=48_000, tags=tags)
        else:
            write_sound(path, np.stack([samples] * 2), rate=48_000, layout="stereo", tags=tags, codec=codec)
    one, other, another = (_probe(path).sound_sha256 for path in places)
    assert one == other != another


@pytest.mark.parametrize(("first", "second"), [("mp4", "mkv"), ("m4a", "mp4"), ("opus", "webm"), ("flac", "mka")])
def test_the_same_packets_in_another_container_are_the_same(tmp_path: Path, first: str, second: str) -> None:
    """A film's sound that was saved alone is transcribed once."""
    write_sound(tmp_path / f"a.{first}", tone(500, 3, 48_000), rate=48_000)
    copy_sound(tmp_path / f"a.{first}", tmp_path / f"b.{second}", tags=TAGS)
    assert _probe(tmp_path / f"a.{first}").sound_sha256 == _probe(tmp_path / f"b.{second}").sound_sha256


def test_tags_are_clean(tmp_path: Path) -> None:
    """One line each, without control characters, none that is empty."""
    path = tmp_path / "talk.mp3"
    write_sound(path, tone(500, 2), tags={"title": " A\x01\ttalk\n ", "artist": " \n", "album": "Ü"})
    found = _probe(path)
    assert (found.title, found.metadata["album"]) == ("A talk", "Ü")
    assert "artist" not in found.metadata


def test_a_length_nobody_wrote_down_is_counted(tmp_path: Path) -> None:
    """A live recording has no length in its header; an MP3 file of changing bit rate may have a wrong guess at it."""
    live = tmp_path / "live.mkv"
    write_sound(live, tone(500, 4), options={"live": "1"})
    assert _probe(live).duration == pytest.approx(4, abs=0.1)
    plain = tmp_path / "plain.mp3"
    write_sound(plain, np.concatenate([np.zeros(80_000, np.float32), tone(500, 5)]), options={"write_xing": "0"})
    assert _probe(plain).duration == pytest.approx(10, abs=0.2)


@pytest.mark.parametrize("ending", ["mp3", "m4a", "mkv", "ogg"])
def test_chapters_are_told(tmp_path: Path, ending: str) -> None:
    """With their times, without those behind the end, each title on one line."""
    write_sound(tmp_path / f"plain.{ending}", tone(500, 4))
    path = tmp_path / f"podcast.{ending}"
    titles = {0.0: "Hello\t \x01 there", 2.0: "Rope & *tar*", 3.0: " ", 60.0: "Advertisement"}
    join_tracks([tmp_path / f"plain.{ending}"], path, chapters=titles)
    found = _probe(path)
    assert [chapter.title for chapter in found.chapters] == ["Hello there", "Rope & *tar*"]
    first, second = (chapter.start for chapter in found.chapters)
    assert second - first == pytest.approx(2.0, abs=0.01)
    assert _probe(tmp_path / f"plain.{ending}").chapters == ()
    assert "chapters" not in _probe(tmp_path / f"plain.{ending}").metadata


def test_subtitles_are_counted(tmp_path: Path) -> None:
    """They are not read; that they are there is told."""
    write_sound(tmp_path / "talk.mkv", tone(500, 2))
    join_tracks([tmp_path / "talk.mkv"], tmp_path / "film.mkv", subtitles="Good evening.")
    assert _probe(tmp_path / "film.mkv").metadata["subtitle_tracks"] == 1
    assert "subtitle_tracks" not in _probe(tmp_path / "talk.mkv").metadata


@pytest.mark.parametrize("ending", ["wav", "mp3", "flac", "mkv", "mp4"])
def test_a_recording_that_was_broken_off_has_failed(tmp_path: Path, ending: str) -> None:
    """What the container promises and does not hold is missed."""
    path = tmp_path / f"talk.{ending}"
    sound = np.random.default_rng(5).normal(0, 0.1, 20 * 16_000).astype(np.float32)
    write_sound(path, sound)
    if ending == "mp4":  # with its index in front, as for the web
        copy_sound(path, tmp_path / "fast.mp4", options={"movflags": "faststart"})
        path = tmp_path / "fast.mp4"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(RecordingError, match=r"it ends at 0:\d\d of 0:(19|20): copy or download it again"):
        _probe(path)


def _patched(path: Path, old: bytes, new: bytes) -> Path:
    path.write_bytes(path.read_bytes().replace(old, new))
    return path


def test_what_is_no_recording_says_what_to_do(tmp_path: Path) -> None:
    """Each kind of bad file has a reason of its own."""
    path = tmp_path / "talk.mp3"
    for content, reason in (
        (b"", "it is empty"),
        (b"These are only words.\n" * 100, "no recording but text"),
        (b"<html><body>404", "no recording but text"),
        (b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n/etc/passwd\n", "no recording but text"),
        (np.random.default_rng(6).bytes(5000), "no recording that can be read|cannot be decoded"),
        (b"\x00\x00\x00\x1cftypM4A " + bytes(3000), "its index is missing"),
    ):
        path.write_bytes(content)
        with pytest.raises(RecordingError, match=reason):
            _probe(path)


def test_a_recording_without_sound_has_failed(tmp_path: Path) -> None:
    """A film without sound, and a header without samples."""
    write_sound(tmp_path / "silent.mp4", None, video=True)
    with pytest.raises(RecordingError, match="no sound in it"):
        _probe(tmp_path / "silent.mp4")
    with wave.open(str(tmp_path / "zero.wav"), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
    with pytest.raises(RecordingError, match="length is zero"):
        _probe(tmp_path / "zero.wav")


def test_a_codec_that_is_not_known_is_named(tmp_path: Path) -> None:
    """So is what a shop protects."""
    wav = tmp_path / "talk.wav"
    write_sound(wav, tone(500, 2))
    content = bytearray(wav.read_bytes())
    content[20:22] = struct.pack("<H", 0x7777)
    wav.write_bytes(content)
    with pytest.raises(RecordingError, match=r"codec \(0x7777\) is not supported: save it as"):
        _probe(wav)
    for mark in (b"drms", b"enca"):
        write_sound(tmp_path / "song.m4a", tone(500, 2))
        with pytest.raises(RecordingError, match=r"protected \(DRM\): export it without"):
            _probe(_patched(tmp_path / "song.m4a", b"mp4a", mark))


def test_a_recording_that_is_too_long_has_failed(tmp_path: Path) -> None:
    """It says how long it is, and which setting allows more."""
    path = tmp_path / "talk.wav"
    write_sound(path, np.zeros(40 * 60 * 1000, np.float32), rate=1000)
    with pytest.raises(RecordingError, match=r"is 0\.7 hours long, more than speech\.max_hours allows \(0\.5\)"):
        _probe(path, 0.5)
    assert _probe(path, 1.0).duration == 2400


def test_what_cannot_be_opened_says_so(tmp_path: Path) -> None:
    """Vanished, or not to be read by this user."""
    with pytest.raises(RecordingError, match="it vanished"):
        _probe(tmp_path / "none.mp3")
    path = tmp_path / "secret.wav"
    write_sound(path, tone(500, 1))
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    with pytest.raises(RecordingError, match="cannot be read: Permission denied"):
        _probe(path)


def test_nothing_is_written_to_stderr(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """FFmpeg's own words stay away from it."""
    path = tmp_path / "talk.mp3"
    write_sound(path, tone(500, 5))
    content = bytearray(path.read_bytes())
    content[5000:6000] = bytes(range(250)) * 4
    path.write_bytes(content)
    capfd.readouterr()
    _probe(path)
    assert capfd.readouterr().err == ""
