"""Files become samples: the right ones, at the right times, in little memory."""

import os
import subprocess
import sys
import wave
from pathlib import Path

import fsspec
import numpy as np
import pytest

pytest.importorskip("av", reason="needs the extra speech")

from sourcebook.errors import RecordingError
from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.decoding import BLOCK_SECONDS, Samples, decode, decode_channels
from tests.sounds import CODECS, copy_sound, main_frequency, tone, write_sound

CODEC_DELAY = 0.1
"""Seconds that lossy codecs add at most."""


def _all(place: str | Path, start: float = 0.0) -> Samples:
    return np.concatenate([np.zeros(0, np.float32), *decode(str(place), start=start)])


@pytest.mark.parametrize("ending", CODECS)
def test_every_format_is_decoded(tmp_path: Path, ending: str) -> None:
    """Length and pitch are those of what was recorded, also where the file has another rate."""
    path = tmp_path / f"talk.{ending}"
    rate = 48_000 if CODECS[ending] == "libopus" else 44_100
    write_sound(path, tone(1000, 3, rate), rate=rate, video=ending in {"webm", "mp4", "mkv"})
    samples = _all(path)
    assert samples.dtype == np.float32
    assert len(samples) / SAMPLE_RATE == pytest.approx(3, abs=CODEC_DELAY)
    assert main_frequency(samples) == pytest.approx(1000, abs=2)
    assert np.abs(samples[8000:-8000]).max() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(("codec", "rate"), [("pcm_u8", 8_000), ("pcm_s24le", 96_000), ("pcm_f32le", 48_000)])
def test_every_depth_and_rate_is_decoded(tmp_path: Path, codec: str, rate: int) -> None:
    """8, 24 and 32 bits, 8 to 96 kHz: as loud and as long as they are."""
    path = tmp_path / "talk.wav"
    write_sound(path, tone(440, 2, rate), codec=codec, rate=rate)
    samples = _all(path)
    assert len(samples) == 2 * SAMPLE_RATE
    assert main_frequency(samples) == pytest.approx(440, abs=1)
    assert np.abs(samples[4000:-4000]).max() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("layout", ["stereo", "5.1"])
def test_every_channel_is_heard(tmp_path: Path, layout: str) -> None:
    """Who speaks on one channel only is heard, and nothing is cut off."""
    count = {"stereo": 2, "5.1": 6}[layout]
    for channel in range(2 if layout == "stereo" else 3):  # left, right, centre
        channels = np.zeros((count, 2 * SAMPLE_RATE), np.float32)
        channels[channel] = tone(700, 2)
        path = tmp_path / f"talk{channel}.wav"
        write_sound(path, channels, layout=layout)
        samples = _all(path)
        assert main_frequency(samples) == pytest.approx(700, abs=1)
        assert 0.05 < np.abs(samples).max() <= 1


def test_channels_without_a_layout_are_mixed(tmp_path: Path) -> None:
    """A recorder's file that does not say which channel is which is decoded, however many they are."""
    for count in (3, 6, 10):
        path = tmp_path / "talk.wav"
        with wave.open(str(path), "wb") as file:
            file.setparams((count, 2, 48_000, 0, "NONE", ""))
            file.writeframes(np.repeat((tone(500, 1, 48_000) * 32767).astype("<i2"), count).tobytes())
        samples = _all(path)
        assert len(samples) == SAMPLE_RATE
        assert main_frequency(samples) == pytest.approx(500, abs=1)


@pytest.mark.parametrize("ending", ["wav", "mp3", "m4a", "ogg", "flac"])
def test_a_later_start_hears_the_same(tmp_path: Path, ending: str) -> None:
    """What follows `start` is bit for bit what follows it in the whole, wherever it lies."""
    path = tmp_path / f"talk.{ending}"
    rate = 48_000 if ending == "ogg" else 44_100
    noise = np.random.default_rng(4).normal(0, 0.1, 25 * rate).astype(np.float32)
    write_sound(path, noise, rate=rate)
    whole = _all(path)
    assert [len(block) for block in decode(str(path))][:2] == [BLOCK_SECONDS * SAMPLE_RATE] * 2
    for start in (0.00003, 1 / 3, 10.0, 17.123456):
        assert np.array_equal(_all(path, start), whole[round(start * SAMPLE_RATE) :])
    assert not len(_all(path, 100.0))


def test_pauses_in_the_time_stamps_are_silence(tmp_path: Path) -> None:
    """Times stay those that a player shows: 0 where it begins, and later by what was not recorded."""
    write_sound(tmp_path / "talk.mkv", tone(500, 4), codec="pcm_s16le")
    copy_sound(tmp_path / "talk.mkv", tmp_path / "gap.mkv", moved={0.0: 100.0, 2.0: 3.0})
    samples = _all(tmp_path / "gap.mkv")
    assert len(samples) / SAMPLE_RATE == pytest.approx(7, abs=0.01)
    silent = np.flatnonzero(np.abs(samples) < 1e-6)
    longest = max(np.split(silent, np.flatnonzero(np.diff(silent) > 1) + 1), key=len) / SAMPLE_RATE
    assert (longest[0], longest[-1]) == (pytest.approx(2, abs=0.1), pytest.approx(5, abs=0.1))


def test_time_stamps_that_jump_for_days_are_not_believed(tmp_path: Path) -> None:
    """A broken time stamp makes no day of silence."""
    write_sound(tmp_path / "talk.mkv", tone(500, 4), codec="pcm_s16le")
    copy_sound(tmp_path / "talk.mkv", tmp_path / "jump.mkv", moved={2.0: 100_000.0})
    assert len(_all(tmp_path / "jump.mkv")) / SAMPLE_RATE == pytest.approx(4, abs=0.01)


def _damage(path: Path, begin: float, end: float) -> None:
    """Overwrite a part of a file with noise."""
    content = bytearray(path.read_bytes())
    span = slice(int(len(content) * begin), int(len(content) * end))
    content[span] = np.random.default_rng(1).bytes(len(content[span]))
    path.write_bytes(content)


@pytest.mark.parametrize("ending", ["flac", "m4a", "mkv"])
def test_a_short_damaged_place_is_silence(tmp_path: Path, ending: str) -> None:
    """The rest is heard, and at its time."""
    path = tmp_path / f"talk.{ending}"
    samples = np.concatenate([tone(500, 20), tone(900, 20)])
    write_sound(path, samples + np.random.default_rng(2).normal(0, 0.01, len(samples)).astype(np.float32))
    _damage(path, 0.2, 0.22)
    heard = _all(path)
    assert len(heard) / SAMPLE_RATE == pytest.approx(40, abs=0.25)
    assert main_frequency(heard[int(18 * SAMPLE_RATE) : int(19.7 * SAMPLE_RATE)]) == pytest.approx(500, abs=2)
    assert main_frequency(heard[int(20.3 * SAMPLE_RATE) : int(22 * SAMPLE_RATE)]) == pytest.approx(900, abs=2)


def test_a_recording_that_is_mostly_damaged_has_failed(tmp_path: Path) -> None:
    """It says where, and what to do."""
    path = tmp_path / "talk.flac"
    write_sound(path, np.random.default_rng(3).normal(0, 0.1, 40 * SAMPLE_RATE).astype(np.float32))
    _damage(path, 0.5, 0.8)
    with pytest.raises(RecordingError, match=r"damaged from 0:\d\d on.*save it again with another program"):
        _all(path)


def test_a_url_is_decoded(tmp_path: Path) -> None:
    """What fsspec opens is read like a file."""
    path = tmp_path / "talk.m4a"
    write_sound(path, tone(600, 2))
    fsspec.filesystem("memory").pipe("/recordings/talk.m4a", path.read_bytes())
    assert np.array_equal(_all("memory://recordings/talk.m4a"), _all(path))
    with pytest.raises(RecordingError, match="vanished"):
        _all("memory://recordings/none.m4a")


def test_a_name_may_hold_any_bytes(tmp_path: Path) -> None:
    """A name that is not UTF-8 is opened as it is."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9 %41#?.wav")
    write_sound(path, tone(600, 1))
    assert len(_all(path)) == SAMPLE_RATE


def test_what_cannot_be_opened_says_so(tmp_path: Path) -> None:
    """No error of a library leaves."""
    with pytest.raises(RecordingError, match="it vanished"):
        _all(tmp_path / "none.wav")
    with pytest.raises(RecordingError, match="cannot be read: Is a directory"):
        _all(tmp_path)


_GROWTH = """
import resource, sys
from sourcebook.speech.decoding import decode
blocks = decode(sys.argv[1])
heard = len(next(blocks))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
heard += sum(map(len, blocks))
print(heard, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_twenty_minutes_take_no_more_memory_than_one_block(tmp_path: Path) -> None:
    """Memory is flat, and FFmpeg says nothing on stderr; the samples of so long a recording take 77 MB."""
    path = tmp_path / "long.mp3"
    write_sound(path, np.tile(tone(300, 60, 8000), 20), rate=8000)
    _damage(path, 0.3, 0.3001)
    run = subprocess.run([sys.executable, "-c", _GROWTH, path], capture_output=True, text=True, check=True, timeout=300)
    heard, grown = map(int, run.stdout.split())
    assert heard / SAMPLE_RATE == pytest.approx(1200, abs=0.5)
    assert grown < 20_000, "kibibytes"
    assert run.stderr == ""


def test_samples_that_are_no_numbers_are_silence(tmp_path: Path) -> None:
    """A recording of floats may hold them; what comes behind is heard all the same."""
    samples = tone(440, 2)
    samples[8000:8100], samples[9000:9002] = np.nan, (np.inf, -np.inf)
    write_sound(tmp_path / "odd.wav", samples, codec="pcm_f32le")
    (heard,) = decode(str(tmp_path / "odd.wav"))
    assert np.abs(heard).max() <= 2
    assert main_frequency(heard[16_000:]) == pytest.approx(440, abs=2)


def test_the_channels_of_a_stereo_recording_are_apart(tmp_path: Path) -> None:
    """Left comes first, from any second on; of one channel or of six there is one mix."""
    left, right = tone(440, 12), tone(1000, 12)
    path = tmp_path / "stereo.flac"
    write_sound(path, np.stack([left, right]), layout="stereo")
    whole = np.concatenate(list(decode_channels(str(path))), axis=1)
    assert whole.shape == (2, len(left))
    assert [main_frequency(channel) for channel in whole] == pytest.approx([440, 1000], abs=2)
    rest = np.concatenate(list(decode_channels(str(path), start=11.3)), axis=1)
    assert np.array_equal(rest, whole[:, round(11.3 * SAMPLE_RATE) :])
    for layout, channels in (("mono", 1), ("5.1", 6)):
        write_sound(path, np.stack([left] * channels), layout=layout)
        (block, *_) = decode_channels(str(path))
        assert block.shape == (1, BLOCK_SECONDS * SAMPLE_RATE)
        assert main_frequency(block[0]) == pytest.approx(440, abs=2)
