"""Sparse speech, recordings in several languages, and a speaker on each channel: word errors, times, processor time."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import jiwer
import numpy as np
from faster_whisper.audio import decode_audio
from whisper.normalizers import BasicTextNormalizer, EnglishTextNormalizer

from benchmarks.corpora.spoken_scenes import Samples, in_turn, phrases, two_channels
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, middle, say, spread
from benchmarks.peers.transcribe import timed
from sourcebook.config.speech import EngineName, SpeechSettings
from sourcebook.model.transcript import SAMPLE_RATE, Segment
from sourcebook.speech.process import SpeechProcess

_PAUSES = (6.0, 9.0)
"""Seconds between two phrases of sparse speech, in turn."""
_FAINT = 0.05
"""Loudness of the right channel of a call against the left one."""
_TIME = 1.2
"""Most processor time for sparse speech, against the engine as it comes."""
_MEAN, _LATEST = 0.1, 0.3
"""Seconds between the audible start of a phrase and the start of its segment: the mean, and the most."""
_ERRORS = 0.25
"""Largest word error rate of a stretch in another language, as of the clip alone and one word more."""


@dataclass(frozen=True)
class Clips:
    """Clips with known words."""

    name: str
    english: tuple[str, ...]
    other: str
    """A clip in another language than English."""


_PARTS = (
    Clips("worked with", ("picovoice_en.wav",), "picovoice_de.wav"),
    Clips("others", ("jfk.flac", "sample_10s.mp3"), "picovoice_fr.wav"),
)


def scene_rows(bench: Bench, engine: EngineName, clips: Path) -> Iterator[Row]:
    """Yield the rows of an engine, of the clips that rules were made with and of others.

    The thresholds of channels and the true starts were looked at on all of them; the joining of utterances was not.
    """
    known = {one["file"]: one for one in json.loads((clips / "transcripts.json").read_text(encoding="utf-8"))}
    sounds = {name: decode_audio(str(clips / name), sampling_rate=SAMPLE_RATE) for name in known}
    for part in _PARTS:
        say(f"    clips {part.name} …")
        yield from _sparse_rows(bench, engine, part, sounds, known)
        with SpeechProcess(SpeechSettings(engine=engine), bench.folder) as process:
            yield from _language_rows(bench, process, engine, part, sounds, known)
            yield from _channel_rows(bench, process, engine, part, sounds, known)


def _sparse_rows(
    bench: Bench, engine: EngineName, part: Clips, sounds: dict[str, Samples], known: dict[str, dict[str, str]]
) -> Iterator[Row]:
    spoken = [one for name in part.english for one in phrases(sounds[name], known[name]["text"], "en")]
    scene = in_turn(spoken, max(len(spoken), 4), _PAUSES)
    path = bench.folder / "sparse.npy"
    np.save(path, scene.samples[0])
    ours, plain = [], []
    for _ in range(bench.options.repeat):
        plain.append(timed(engine, "plain", path, bench.folder))
        ours.append(timed(engine, "sourcebook", path, bench.folder))
    ratios = [one.processor_seconds / other.processor_seconds for one, other in zip(ours, plain, strict=True)]
    starts = np.array(ours[0].starts)
    late = [float(np.abs(starts - start).min()) if len(starts) else 1e9 for start in scene.starts]
    label = f"{engine}, sparse speech, clips {part.name}"
    yield Row(f"{label}: processor time against as it comes", middle(ratios), "×", _TIME, spread(ratios, "×"))
    yield Row(f"{label}: start of a phrase, mean error", float(np.mean(late)), "s", _MEAN)
    yield Row(f"{label}: start of a phrase, largest error", max(late), "s", _LATEST)
    errors, others = (_errors(scene.text, runs[0].text, "en") for runs in (ours, plain))
    yield Row(f"{label}: word error rate", errors, "WER", note=f"the engine as it comes {others:.3f}")


def _language_rows(
    bench: Bench,
    process: SpeechProcess,
    engine: EngineName,
    part: Clips,
    sounds: dict[str, Samples],
    known: dict[str, dict[str, str]],
) -> Iterator[Row]:
    pause = np.zeros(SAMPLE_RATE // 2, np.float32)
    order = (part.english[0], part.other, part.english[-1])
    heard = _hear(bench, process, np.concatenate([one for name in order for one in (sounds[name], pause)])[np.newaxis])
    for language, names in (("en", (order[0], order[2])), (known[part.other]["language"], (part.other,))):
        text = " ".join(one.text for one in heard if one.language == language)
        errors = _errors(" ".join(known[name]["text"] for name in names), text, language)
        most = _ERRORS if language != "de" else 0.4
        yield Row(f"{engine}, two languages, clips {part.name}: word error rate of {language}", errors, "WER", most)


def _channel_rows(
    bench: Bench,
    process: SpeechProcess,
    engine: EngineName,
    part: Clips,
    sounds: dict[str, Samples],
    known: dict[str, dict[str, str]],
) -> Iterator[Row]:
    left, right = (part.english[0], part.english[-1]) if len(part.english) > 1 else (part.english[0], "jfk.flac")
    faint = np.concatenate([np.zeros(2 * SAMPLE_RATE, np.float32), sounds[right] * np.float32(_FAINT)])
    heard = _hear(bench, process, two_channels(sounds[left], faint))
    for channel, name in ((1, left), (2, right)):
        text = " ".join(one.text for one in heard if one.channel == channel)
        errors = _errors(known[name]["text"], text, "en")
        where = "left" if channel == 1 else "right, faint"
        yield Row(f"{engine}, a call, clips {part.name}: word error rate, {where}", errors, "WER", _ERRORS)
    heard = _hear(bench, process, two_channels(sounds[left], sounds[left]))
    doubled = len(" ".join(one.text for one in heard).split()) - len(known[left]["text"].split())
    yield Row(f"{engine}, one voice on both channels, clips {part.name}: words too many", max(doubled, 0), "words", 1)


def _hear(bench: Bench, process: SpeechProcess, samples: Samples) -> list[Segment]:
    path = bench.folder / "scene.flac"
    with av.open(str(path), "w") as container:
        layout = "stereo" if len(samples) == 2 else "mono"
        stream = container.add_stream("flac", rate=SAMPLE_RATE, layout=layout)
        whole = (samples.clip(-1, 1) * 32_767).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(whole.T.reshape(1, -1)), format="s16", layout=layout)
        frame.sample_rate = SAMPLE_RATE
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return [segment for window in process.transcribe(str(path)) for segment in window.segments]


def _errors(reference: str, text: str, language: str) -> float:
    normal = EnglishTextNormalizer() if language == "en" else BasicTextNormalizer()
    return float(jiwer.wer(normal(reference), normal(text)))
