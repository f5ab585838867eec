"""Try whether recognition works on this machine."""

import time
from dataclasses import dataclass

from sourcebook.parsing.pdf.ocr.recognise import recognise

SAMPLE = "Recognition works"


@dataclass(frozen=True, slots=True)
class RecognitionCheck:
    """What one real picture gave."""

    text: str
    """What was read; it should be `SAMPLE`."""
    seconds: float
    """With loading the models, where this process had not yet."""

    @property
    def works(self) -> bool:
        """Whether the picture's text was read."""
        return self.text == SAMPLE


def check_recognition() -> RecognitionCheck:
    """Draw a small picture with `SAMPLE` on it and read it.

    Raises:
        ImportError: RapidOCR, onnxruntime or Pillow is not installed.
        MissingDependencyError: RapidOCR is installed without its models.
    """
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (480, 96), "white")
    ImageDraw.Draw(picture).text((30, 28), SAMPLE, fill="black", font=ImageFont.load_default(size=32))
    started = time.perf_counter()
    page = recognise(picture)
    return RecognitionCheck(" ".join(line.text for line in page.lines), time.perf_counter() - started)
