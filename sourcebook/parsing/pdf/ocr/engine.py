"""RapidOCR with the weights that came in its wheel: find the lines in a picture, and read them.

Only ever imported by functions that are about to recognise something: it loads OpenCV and onnxruntime.
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
"""(height, width, 3) in OpenCV's order: blue, green, red."""
Quads = NDArray[np.float64]
"""(n, 4, 2): the corners of each line as x, y, clockwise from its upper left."""

_MOST_LINES = 3000
"""RapidOCR's own limit is 1,000: a page of small print in tables has more."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands in one line, and how sure that is, 0 to 1."""

    text: str
    confidence: float


def find_lines(pixels: Pixels) -> Quads:
    """Return where the lines of text lie; words of one row that stand apart are lines of their own.

    Memory grows by about 200 MB with each million pixels.
    """
    from rapidocr.main import RapidOCRError

    try:
        _, found = engine().detect_and_crop(pixels, {})
    except RapidOCRError:  # how it says that there are none
        return np.empty((0, 4, 2))
    return np.asarray(found.boxes, dtype=np.float64)


def cut_out(pixels: Pixels, quads: Quads) -> list[Pixels]:
    """Return a picture of each line, made horizontal; what stands upright is laid on its left side."""
    return [np.ascontiguousarray(cut) for cut in engine().crop_text_regions(pixels, quads.astype(np.float32))]


def read_lines(cuts: Sequence[Pixels]) -> list[Reading]:
    """Return what stands in each of these pictures of a line."""
    if not cuts:
        return []
    read = engine().recognize_txt(list(cuts))
    return [Reading(" ".join(text.split()), float(score)) for text, score in zip(read.txts, read.scores, strict=True)]


@cache
def engine() -> Any:  # what RapidOCR declares leaves out the steps that are used here
    """Return the one RapidOCR of this process, which loads each model when it is first needed.

    Raises:
        MissingDependencyError: A model is not in the installed package.
    """
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "critical",
            # A path for each, so that none is ever looked for on a hub.
            "Det.model_path": _model("det"),
            "Cls.model_path": _model("cls"),
            "Rec.model_path": _model("rec"),
            # Lines are read one by one: batches are padded to the longest, which costs more than they save.
            "Rec.rec_batch_num": 1,
            "Det.max_candidates": _MOST_LINES,
            # The caller chooses the size. RapidOCR would enlarge a narrow strip until its short side has 736 pixels.
            "Det.limit_side_len": 32,
            "Global.use_vertical_padding": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": recognition_threads(),
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _model(task: str) -> str:
    """Return the path of a model that is part of the installed package, whatever else lies beside it."""
    for file in files("rapidocr") or ():
        path = Path(file.locate())
        if file.match(f"rapidocr/models/*_{task}_*.onnx") and path.is_file():
            return str(path)
    raise MissingDependencyError(f"the installed rapidocr has no {task} model in it; install rapidocr>=3.10 again")
