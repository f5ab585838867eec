"""Make the recording of the example library.

The file is kept in the tree, so only a maintainer who changes its words needs this script:

    pip install av==18.1.0 hibari-tts==0.2.1
    python examples/build_recording.py

The words stand in ``sources/school-visit.md``. The voice is synthetic and lies in the package hibari-tts, so nothing is
downloaded. Running it twice on one machine gives the same bytes.
"""

from pathlib import Path

import av
import numpy as np
from hibari import SAMPLE_RATE, Hibari
from numpy.typing import NDArray

HERE = Path(__file__).parent
SOURCE = HERE / "sources" / "school-visit.md"
TARGET = HERE / "library" / "reports" / "school-visit.m4a"
TAGS = {"artist": "Brannock Head Tide Society", "date": "2025-03-20"}
BIT_RATE = 24_000

Sound = NDArray[np.float32]


def silence(seconds: float) -> Sound:
    """Return samples in which nobody speaks."""
    return np.zeros(round(seconds * SAMPLE_RATE), np.float32)


def speak(paragraphs: list[str]) -> Sound:
    """Read paragraphs aloud, with pauses between sentences and longer ones between paragraphs."""
    voice = Hibari()
    parts = [silence(0.4)]
    for number, paragraph in enumerate(paragraphs):
        parts += [silence(1.6)] if number else []
        for place, sentence in enumerate(voice.stream(paragraph, speed=0.95, seed=7)):
            parts += [silence(0.25)] if place else []
            parts.append(sentence)
    return np.concatenate([*parts, silence(0.4)])


def write(sound: Sound, title: str) -> None:
    """Write an .m4a file as a telephone would: one channel, AAC."""
    with av.open(TARGET, "w") as container:
        container.metadata.update({"title": title, **TAGS})
        stream = container.add_stream("aac", rate=SAMPLE_RATE, layout="mono")
        stream.bit_rate = BIT_RATE
        samples = (np.clip(sound, -1, 1) * 32767).astype("<i2")
        frame = av.AudioFrame.from_ndarray(samples[None], format="s16", layout="mono")
        frame.sample_rate = SAMPLE_RATE
        resampler = av.AudioResampler("fltp", "mono", SAMPLE_RATE, frame_size=1024)
        for part in [*resampler.resample(frame), *resampler.resample(None), None]:
            container.mux(stream.encode(part))


def main() -> None:
    """Make the recording."""
    heading, *paragraphs = SOURCE.read_text(encoding="utf-8").strip().split("\n\n")
    write(speak([" ".join(paragraph.split()) for paragraph in paragraphs]), heading.removeprefix("# "))


if __name__ == "__main__":
    main()
