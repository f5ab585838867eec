"""Seconds that an engine takes for a sound, once loaded: `python -m benchmarks.peers.transcribe ENGINE WAY SOUND HOME`.

WAY is `sourcebook`, the engine as the product runs it, or `plain`, the engine alone.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.library import PROJECT, child_environment
from benchmarks.harness.measure import run
from sourcebook.config.speech import EngineName, SpeechSettings
from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.engine import BEAMS
from sourcebook.speech.engines.loading import ctranslate2_model, load_engine, openai_checkpoint
from sourcebook.speech.transcriber import transcribe
from sourcebook.speech.weights import find_weights

ENGINES: tuple[EngineName, ...] = get_args(EngineName)
Samples = NDArray[np.float32]
Said = list[tuple[float, str]]
"""Start in seconds and text of each segment."""
Hear = Callable[[Samples], Said]


@dataclass(frozen=True)
class Timed:
    """Cost of transcribing a sound with an engine."""

    seconds: float
    """Seconds for a second of sound."""
    processor_seconds: float
    """Seconds of all processors for a second of sound; on a busy machine the fairer figure."""
    starts: list[float]
    """Second at which each segment begins."""
    text: str


def timed(engine: EngineName, way: str, sound: Path, home: Path) -> Timed:
    """Transcribe a sound in a process of its own."""
    child = run(
        [sys.executable, "-m", "benchmarks.peers.transcribe", engine, way, str(sound), str(home)],
        {**child_environment(), "PYTHONPATH": str(PROJECT), "OMP_WAIT_POLICY": "PASSIVE"},
    )
    return Timed(**json.loads(child.output.splitlines()[-1]))


def main(engine: str, way: str, sound: str, home: str) -> None:
    samples: Samples = np.load(sound)
    settings = SpeechSettings(engine=cast("EngineName", engine))
    if way == "sourcebook":
        hear = _as_sourcebook(settings, Path(home))
    else:
        hear = {"openai-whisper": _plain_openai_whisper, "faster-whisper": _plain_faster_whisper}[engine](Path(home))
    hear(samples[: 12 * SAMPLE_RATE])  # the first call prepares what later ones reuse
    length = len(samples) / SAMPLE_RATE
    started, used = time.perf_counter(), time.process_time()
    said = hear(samples)
    found = Timed(
        seconds=(time.perf_counter() - started) / length,
        processor_seconds=(time.process_time() - used) / length,
        starts=[start for start, _ in said],
        text=" ".join(text.strip() for _, text in said),
    )
    print(json.dumps(asdict(found)))


def _as_sourcebook(settings: SpeechSettings, home: Path) -> Hear:
    engine = load_engine(settings, home)

    def hear(samples: Samples) -> Said:
        blocks = (
            samples[np.newaxis, first : first + 10 * SAMPLE_RATE] for first in range(0, len(samples), 10 * SAMPLE_RATE)
        )
        windows = transcribe(blocks, engine, start=0.0, language=None)
        return [(segment.start, segment.text) for window in windows for segment in window.segments]

    return hear


def _plain_openai_whisper(home: Path) -> Hear:
    import whisper

    model = whisper.load_model(str(openai_checkpoint(find_weights("base"), home)), device="cpu")

    def hear(samples: Samples) -> Said:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.transcribe(samples, beam_size=BEAMS, condition_on_previous_text=False, fp16=False)
        return [(float(one["start"]), str(one["text"])) for one in found["segments"]]

    return hear


def _plain_faster_whisper(home: Path) -> Hear:
    from faster_whisper import WhisperModel

    model = WhisperModel(str(ctranslate2_model(find_weights("base"), home)), device="cpu", compute_type="int8")

    def hear(samples: Samples) -> Said:
        segments, _ = model.transcribe(samples, beam_size=BEAMS, condition_on_previous_text=False)
        return [(segment.start, segment.text) for segment in segments]

    return hear


if __name__ == "__main__":
    main(*sys.argv[1:])
