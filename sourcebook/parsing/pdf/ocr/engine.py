"""RapidOCR with the weights in its wheel: it finds the lines in a picture and reads them.

Functions import this module when they start OCR, because it loads OpenCV and onnxruntime.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sourcebook.errors import MissingDependencyError
from sourcebook.parsing.pdf.ocr.threads import recognition_threads

Pixels = NDArray[np.uint8]
"""Array of shape (height, width, 3) in OpenCV's order: blue, green, red."""
Quads = NDArray[np.float64]
"""Array of shape (n, 4, 2): corners of each line as x and y in pixels, clockwise from its upper left."""

_MOST_LINES = 3000
"""Most lines of a picture; RapidOCR's own limit of 1,000 is too low for small print in tables."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Text of a line and its confidence, 0 to 1."""

    text: str
    confidence: float


def find_lines(pixels: Pixels) -> Quads:
    """Return the corners of the lines of text; words with a wide gap between them are separate lines.

    The memory is about 200 MB per million pixels.
    """
    from rapidocr.main import RapidOCRError

    try:
        _, found = engine().detect_and_crop(pixels, {})
    except RapidOCRError:  # raised where there are no lines
        return np.empty((0, 4, 2))
    return np.asarray(found.boxes, dtype=np.float64)


def cut_out(pixels: Pixels, quads: Quads) -> list[Pixels]:
    """Return a horizontal picture of each line; vertical lines are rotated to their left side."""
    return [np.ascontiguousarray(cut) for cut in engine().crop_text_regions(pixels, quads.astype(np.float32))]


def read_lines(cuts: Sequence[Pixels]) -> list[Reading]:
    """Return the text in each picture of a line."""
    if not cuts:
        return []
    read = engine().recognize_txt(list(cuts))
    return [Reading(" ".join(text.split()), float(score)) for text, score in zip(read.txts, read.scores, strict=True)]


@cache
def engine() -> Any:  # RapidOCR's annotations leave out the steps that are used here
    """Return this process's RapidOCR, which loads each model when it is first needed.

    Raises:
        MissingDependencyError: a model is not in the installed package.
    """
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "critical",
            # With a path for each model, none is looked for on a hub.
            "Det.model_path": _model("det"),
            "Cls.model_path": _model("cls"),
            "Rec.model_path": _model("rec"),
            # Batches are padded to their longest line, which costs more than batching saves.
            "Rec.rec_batch_num": 1,
            "Det.max_candidates": _MOST_LINES,
            # The caller chooses the size; RapidOCR enlarges a narrow strip until its short side has 736 pixels.
            "Det.limit_side_len": 32,
            "Global.use_vertical_padding": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": recognition_threads(),
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _model(task: str) -> str:
    """Return the path of a model in the installed package; other files beside it are ignored."""
    for file in files("rapidocr") or ():
        path = Path(file.locate())
        if file.match(f"rapidocr/models/*_{task}_*.onnx") and path.is_file():
            return str(path)
    raise MissingDependencyError(f"the installed rapidocr has no {task} model in it; install rapidocr>=3.10 again")
