"""Recordings of known times: each shared clip once, in a drawn order, with drawn pauses."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import av
import numpy as np
from faster_whisper.audio import decode_audio

from benchmarks.corpora.spoken_scenes import Scene, Utterance, in_turn
from sourcebook.model.transcript import SAMPLE_RATE

COUNT: Final = 4
_SEED, _PAUSES = 16, (3, 12)
"""Seed of the orders and pauses; shortest and longest pause, in seconds."""


@dataclass(frozen=True)
class KnownRecording:
    """A recording, and the words of each clip with the second at which it begins."""

    name: str
    scene: Scene

    @property
    def spoken(self) -> Iterator[tuple[str, float]]:
        """Words and start of each clip."""
        starts = (round(start, 2) for start in self.scene.starts)
        return zip((each.text for each in self.scene.utterances), starts, strict=True)

    def write(self, folder: Path) -> None:
        """Write the recording as FLAC."""
        folder.mkdir(parents=True, exist_ok=True)
        with av.open(folder / self.name, "w") as container:
            stream = container.add_stream("flac", rate=SAMPLE_RATE, layout="mono")
            samples = (self.scene.samples.clip(-1, 1) * 32_767).astype(np.int16)
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples), format="s16", layout="mono")
            frame.sample_rate = SAMPLE_RATE
            container.mux(stream.encode(frame))
            container.mux(stream.encode(None))


def make_recordings(clips: Path) -> Iterator[KnownRecording]:
    """Yield the recordings.

    Args:
        clips: folder of the clips and of `transcripts.json`, their words.
    """
    random = Random(_SEED)
    utterances = [
        Utterance(decode_audio(str(clips / one["file"]), sampling_rate=SAMPLE_RATE), one["text"], one["language"])
        for one in json.loads((clips / "transcripts.json").read_text(encoding="utf-8"))
    ]
    for number in range(1, COUNT + 1):
        order = random.sample(utterances, len(utterances))
        pauses = [random.randint(*_PAUSES) for _ in order]
        yield KnownRecording(f"recording-{number}.flac", in_turn(order, len(order), pauses))
