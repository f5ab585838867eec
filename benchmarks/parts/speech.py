"""Recordings through both engines with Whisper base: word errors, speed beside the engines alone, memory."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

import av
import jiwer
import numpy as np
import psutil
from faster_whisper.audio import decode_audio
from whisper.normalizers import BasicTextNormalizer, EnglishTextNormalizer

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import PROJECT
from benchmarks.harness.report import Row, middle, say, spread
from benchmarks.harness.speech_scenes import scene_rows
from benchmarks.peers.transcribe import ENGINES, Samples, timed
from sourcebook.config.speech import EngineName, SpeechSettings
from sourcebook.installation import install_command
from sourcebook.model.transcript import SAMPLE_RATE, Language
from sourcebook.speech.process import SpeechProcess
from sourcebook.speech.weights import find_weights

CLIPS = PROJECT.parent / "shared" / "data" / "speech"
_ERRORS = {"jfk.flac": 0.0, "picovoice_en.wav": 0.0, "picovoice_fr.wav": 0.16, "picovoice_de.wav": 0.40}
"""Largest word error rate of each clip."""
_SILENCE = "silent_1s.wav"
_JOINED = ("jfk.flac", "picovoice_en.wav", "sample_10s.mp3")
_ROUNDS, _TIMES = 22, 12
"""Repetitions of the joined clips in ten minutes of sound, and of these ten minutes in two hours."""
_SECONDS: dict[EngineName, float] = {"openai-whisper": 0.60, "faster-whisper": 0.33}
"""Most seconds for a second of sound, by engine."""
_MEMORY, _GROWTH = 2_000_000_000, 1.2


@dataclass(frozen=True)
class Clip:
    """A recording and what is said in it."""

    path: Path
    language: str
    text: str


@dataclass(frozen=True)
class Heard:
    """Transcript of a recording, with its cost."""

    text: str
    language: Language | None
    peak: int | None
    """Largest resident memory of the child so far, in bytes; None where the system does not report it."""


def run(bench: Bench) -> list[Row]:
    """Transcribe clips with known words, and long recordings made of them."""
    if not CLIPS.is_dir():
        return [Row("recordings", None, note=f"the clips are not at {CLIPS}")]
    if not find_weights("base").parts:
        return [Row("recordings", None, note=f"without weights: {install_command('pipeline')}")]
    clips = [
        Clip(CLIPS / one["file"], one["language"], one["text"])
        for one in json.loads((CLIPS / "transcripts.json").read_text(encoding="utf-8"))
    ]
    rows: list[Row] = []
    for engine in ENGINES:
        say(f"  {engine} …")
        rows += [*_clip_rows(bench, engine, clips), *_speed_rows(bench, engine, clips)]
        rows += _memory_rows(bench, engine, clips)
        rows += scene_rows(bench, engine, CLIPS)
    return rows


def error_rate(reference: str, text: str, language: str) -> float:
    """Return wrong, missing and invented words for each word spoken, as Whisper's authors normalise and count them."""
    normal = EnglishTextNormalizer() if language == "en" else BasicTextNormalizer()
    return float(jiwer.wer(normal(reference), normal(text)))


def _clip_rows(bench: Bench, engine: EngineName, clips: list[Clip]) -> list[Row]:
    rows, told = [], []
    with SpeechProcess(SpeechSettings(engine=engine), bench.folder) as process:
        for clip in clips:
            heard = _hear(process, clip.path)
            errors = error_rate(clip.text, heard.text, clip.language)
            language = "none" if heard.language is None else f"{heard.language.code} {heard.language.probability:.2f}"
            told.append((clip.language, language))
            bar = _ERRORS.get(clip.path.name)
            rows.append(Row(f"{engine}, word error rate of {clip.path.name}", errors, "WER", bar, language))
        silence = _hear(process, CLIPS / _SILENCE)
    wrong = [found for language, found in told if found.split()[0] != language]
    return [
        *rows,
        Row(f"{engine}, languages told wrong", len(wrong), "clips", 0, ", ".join(wrong)),
        Row(f"{engine}, words heard in silence", len(silence.text.split()), "words", 0),
    ]


def _speed_rows(bench: Bench, engine: EngineName, clips: list[Clip]) -> list[Row]:
    path = bench.folder / "joined.npy"
    sound, text = _joined(clips)
    np.save(path, np.tile(sound, _ROUNDS))
    ours, plain = [], []
    for _ in range(bench.options.repeat):
        plain.append(timed(engine, "plain", path, bench.folder))
        ours.append(timed(engine, "sourcebook", path, bench.folder))
        say(
            f"    {ours[-1].seconds:.3f} s for a second of sound; as it comes {plain[-1].seconds:.3f}; "
            f"load {os.getloadavg()[0]:.1f}"
        )
    length = f"{len(sound) / SAMPLE_RATE * _ROUNDS:.0f} s of English"
    seconds, as_it_comes = [one.seconds for one in ours], [one.seconds for one in plain]
    ratios = [one / other for one, other in zip(seconds, as_it_comes, strict=True)]
    most = _SECONDS[engine]
    errors, plain_errors = (error_rate(text * _ROUNDS, runs[0].text, "en") for runs in (ours, plain))
    return [
        Row(f"{engine}, seconds for a second, {length}", middle(seconds), "s/s", most, spread(seconds, "s/s")),
        Row(f"{engine} as it comes", middle(as_it_comes), "s/s", note=spread(as_it_comes, "s/s")),
        Row(
            f"{engine}, time against as it comes",
            middle(ratios),
            "×",
            note=spread(ratios, "×"),
        ),
        Row(f"{engine}, word error rate, {length}", errors, "WER", plain_errors, "bar: the engine as it comes"),
    ]


def _memory_rows(bench: Bench, engine: EngineName, clips: list[Clip]) -> list[Row]:
    sound, _ = _joined(clips)
    peaks = {}
    for name, rounds in (("ten minutes", _ROUNDS), ("two hours", _ROUNDS * _TIMES)):
        if name == "two hours" and not bench.options.full:
            continue
        recording = bench.folder / f"{rounds}.flac"
        if not recording.exists():
            _write(recording, repeat(sound, rounds))
        with SpeechProcess(SpeechSettings(engine=engine), bench.folder) as process:
            peaks[name] = _hear(process, recording).peak
        say(f"    {name}: {(peaks[name] or 0) / 1e6:,.0f} MB at most")
    short, hours = peaks["ten minutes"], peaks.get("two hours")
    why = "" if short is not None else "this system does not tell it"
    return [
        Row(f"{engine}, peak memory, ten minutes", short, "bytes", _MEMORY, why),
        Row(f"{engine}, peak memory, two hours", hours, "bytes", _MEMORY, why if hours or why else "run with --full"),
        Row(
            f"{engine}, peak memory, two hours / ten minutes",
            hours / short if hours and short else None,
            "×",
            _GROWTH,
            why if hours or why else "run with --full",
        ),
    ]


def _hear(process: SpeechProcess, path: Path) -> Heard:
    windows = list(process.transcribe(str(path)))
    return Heard(
        " ".join(segment.text for window in windows for segment in window.segments),
        windows[-1].language if windows else None,
        _peak(),
    )


def _peak() -> int | None:
    """Return the peak memory of the speech process in bytes; it is the only worker here."""
    peaks = []
    for child in psutil.Process().children():
        with suppress(OSError, psutil.Error):
            if "pebble_pool_worker" in child.cmdline():
                lines = Path(f"/proc/{child.pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
                peaks += [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
    return max(peaks, default=None)


def _joined(clips: list[Clip]) -> tuple[Samples, str]:
    """Return the English clips one after the other, half a second of silence behind each, and their words."""
    chosen = [clip for name in _JOINED for clip in clips if clip.path.name == name]
    pause = np.zeros(SAMPLE_RATE // 2, np.float32)
    sounds: list[Samples] = [decode_audio(str(clip.path), sampling_rate=SAMPLE_RATE) for clip in chosen]
    parts = chain.from_iterable((sound, pause) for sound in sounds)
    return np.concatenate(list(parts)), "".join(f"{clip.text} " for clip in chosen)


def _write(path: Path, sounds: Iterable[Samples]) -> None:
    """Write a recording in pieces, never held in memory whole."""
    with av.open(path, "w") as container:
        stream = container.add_stream("flac", rate=SAMPLE_RATE, layout="mono")
        position = 0
        for sound in sounds:
            whole = (sound.clip(-1, 1) * 32_767).astype(np.int16)
            frame = av.AudioFrame.from_ndarray(whole[np.newaxis], format="s16", layout="mono")
            frame.sample_rate, frame.pts = SAMPLE_RATE, position
            position += len(sound)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
